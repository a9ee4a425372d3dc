-- Like `head`, for the common case of a lane with one type: without the list and the sort it takes half the time.
-- include claims/parts/job
-- include claims/parts/look
FROM (SELECT :type AS value) t
-- include claims/parts/open
-- include claims/parts/first_ready
