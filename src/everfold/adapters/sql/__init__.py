"""The logic of every store that speaks SQL: functions over named queries, and the methods that run them.

What differs between databases is behind `everfold.adapters.sql.database`, and in the queries that a dialect overrides.
"""
