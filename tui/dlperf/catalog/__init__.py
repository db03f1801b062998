"""The catalogue of hardware, accelerators, frameworks, cases, protocols and log formats, as YAML."""
