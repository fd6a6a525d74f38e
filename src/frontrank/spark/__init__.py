"""Rankers on Apache Spark, for webs that one machine cannot hold: the same scores as the local engine's, from the same kernels.

    session     a Spark session: Java, the master, quiet logs, and what Spark says in an error as one sentence
    tables      Parquet tables in: what is checked before the work
    folder      arrays in a folder that all machines reach
    jobs        what tasks are, what they tell, and that all told
    rows        arrays that Spark moves
    blocks      links as blocks; a vector pulled along them
    web         all of that for one web
    alone       a small web in the hands of one task
    walks       indegree, PageRank, rw, rw-eg
    queries     q-overlap
    standing    q-hybrid
    ml          the learned ranker; places its places by several scores
    rank        the best pages of a web; the scores of all

May import lab and what is below; nothing imports it but cli. PySpark is imported when a session is started.
"""
