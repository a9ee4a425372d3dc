"""Where runs are published, and how their bytes come down."""
