"""Where "forgot password" leaves what was typed, for a job that looks at it."""
