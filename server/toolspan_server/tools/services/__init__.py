"""Services: long-lived objects that internal handlers use. One module each, named like its config key."""
