"""Rankers on Apache Spark, for webs that one machine cannot hold: the same scores as the local engine's, from the same kernels.

    session     a Spark session: Java, the master, quiet logs, and Spark's errors as one sentence
    tables      Parquet tables in: what is checked before the work
    folder      arrays in a folder that all machines reach
    jobs        what tasks work on, what they report, and that all have reported
    rows        arrays that Spark moves
    blocks      links as blocks; building makes them, pulling pulls a vector along them
    web         all of that for one web; local_web the same in one task, for a small web
    walks       indegree, PageRank, rw, rw-eg; learned their settings; by_links chooses among them
    queries     q-overlap
    hybrid      q-hybrid
    ml          the learned ranker; places its places by several scores
    rank        the best pages of a web; the scores of all
    command     what frontrank rank --engine spark runs

May import lab and what is below; nothing imports it but cli. PySpark is imported when a session is started.
"""
