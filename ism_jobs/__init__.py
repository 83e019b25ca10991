"""What a job is and where it is stored. Shared by the app, the workers and the command line."""
