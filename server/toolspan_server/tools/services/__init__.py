"""Services: the live things that internal handlers use. One module a service, named as its config key."""
