-- Results of a dlperf workspace, as of `dlperf export` and `dlperf query`. What is missing is NULL, never 0.

CREATE TABLE campaigns (
  name TEXT NOT NULL,        -- published/<report> for a third-party report
  origin TEXT NOT NULL,      -- measured, imported or published
  date TEXT,                 -- when it was created (ISO 8601, UTC), a report published (year, month or day)
  dlperf_version TEXT,       -- that planned it
  tags TEXT                  -- words given by a user, with blanks between
);

CREATE TABLE results (
  id INTEGER PRIMARY KEY,
  campaign TEXT NOT NULL,    -- its name
  configuration TEXT,        -- hardware, framework, case, precision, batch size and scale in one id
  hardware TEXT NOT NULL,
  framework TEXT NOT NULL,
  case_id TEXT NOT NULL,     -- the model on its data set; CASE is a word of SQL
  precision TEXT NOT NULL,
  batch_size INTEGER,        -- samples per GPU and step
  nodes INTEGER,
  gpus INTEGER,              -- of each node
  axes TEXT,                 -- further axes as a JSON object: json_extract(axes, '$.sequence_length')
  protocol TEXT,             -- how samples became a value
  status TEXT NOT NULL,      -- code: measured, imported, published, or why there is no value
  cause TEXT,                -- of a status without value
  metric TEXT NOT NULL,      -- the primary one of the case
  value REAL,                -- of the primary metric
  unit TEXT,
  direction TEXT,            -- higher or lower values are better
  spread REAL,               -- (highest - lowest) / median of the trials
  n INTEGER,                 -- trials behind the value
  speedup REAL,              -- over one GPU
  efficiency REAL,           -- speedup / GPUs
  mfu REAL,                  -- model FLOPs utilization, 0 to 1
  samples_per_joule REAL,    -- tokens, images or whatever else the unit counts
  tuning TEXT,               -- stock: as the framework's documentation shows, or tuned: anything
  numerics TEXT,             -- JSON object: data types of weights, compute, gradients, reduction, optimizer
  source TEXT,               -- where a published value, or the logs of an imported one, stand
  date TEXT,                 -- when the campaign began, or a report or the logs of an imported value were published
  pauses TEXT,               -- with or without: evaluations, checkpoints, stalls; else empty
  printed TEXT,              -- a published value, digit for digit
  variant INTEGER            -- which of several values that a report prints for one configuration
);

CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  result INTEGER NOT NULL REFERENCES results (id),
  number INTEGER NOT NULL,   -- from 1
  state TEXT NOT NULL,       -- succeeded, failed, timed_out, cancelled, lost, published
  cause TEXT,                -- why it ended so
  started TEXT,              -- ISO 8601, UTC
  duration_seconds REAL,
  value REAL,                -- of the primary metric
  value_from_timestamps REAL,  -- the same records by the time between them
  unit TEXT,
  estimator TEXT,            -- with its parameters
  estimates TEXT,            -- JSON object: what other estimators give on the same records
  samples INTEGER,           -- records behind the value
  first_step INTEGER,        -- of the measured window
  last_step INTEGER,
  first_line INTEGER,        -- of the log, from 1
  last_line INTEGER,
  window_seconds REAL,
  drift REAL,                -- change of the speed over the window, relative to its start
  idle REAL,                 -- share of the window without a kernel, of the GPU that worked least
  telemetry_samples INTEGER, -- readings of each GPU in the window
  log TEXT,                  -- path in the trial's folder
  log_sha256 TEXT,
  power_watts REAL,          -- mean of the window, all GPUs together
  power_source TEXT,         -- counter, readings, or empty
  sm_clock_mhz REAL,
  samples_per_joule REAL
);

CREATE TABLE metrics (
  result INTEGER NOT NULL REFERENCES results (id),
  trial INTEGER REFERENCES trials (id),  -- NULL: of all trials together
  metric TEXT NOT NULL,
  value REAL,
  unit TEXT,
  direction TEXT,
  scope TEXT,                -- global, per_gpu, per_node
  basis TEXT,                -- what it rests on besides the trial, such as a price with its source and date
  spread REAL,               -- of all trials together
  n INTEGER
);

CREATE TABLE caveats (
  result INTEGER NOT NULL REFERENCES results (id),
  trial INTEGER REFERENCES trials (id),  -- NULL: of all trials together
  code TEXT NOT NULL,
  severity TEXT NOT NULL,    -- note, warning, or error: that trial stays out of the value
  message TEXT NOT NULL,
  parameters TEXT            -- JSON object: the numbers and names in the message, unrounded
);

CREATE TABLE environment (
  trial INTEGER NOT NULL REFERENCES trials (id),
  name TEXT NOT NULL,        -- dotted: machine, GPUs, program files, loaded libraries
  value TEXT
);

CREATE TABLE losses (
  trial INTEGER NOT NULL REFERENCES trials (id),
  step INTEGER NOT NULL,
  loss REAL
);
