"""The demo, pipelines/flights.yaml: five tables joined, features an aircraft, carriers by month, routes."""
