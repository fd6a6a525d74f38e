"""The machine: files that are whole or not there, locks, worker processes with limits, free memory and disk, signals."""
