"""What can be measured: hardware, accelerators, frameworks, cases, protocols and log formats, as YAML."""
