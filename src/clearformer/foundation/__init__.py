"""What everything stands on and what knows nothing of us: folders on disk, settings, locks, the machine."""
