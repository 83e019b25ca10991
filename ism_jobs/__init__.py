"""What a job is and where it is kept; shared by the app and the workers."""
