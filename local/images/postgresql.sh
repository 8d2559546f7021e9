#!/bin/sh
# PostgreSQL in a pod, made anew where its volume is empty. The root has a shell and PostgreSQL, and little else.
set -eu
: "${POSTGRES_PASSWORD_FILE:?found nothing; expected a file with the password of user postgres; mount a Secret}"
: "${POSTGRES_DATABASE:?found nothing; expected the name of a database; set it}"
if [ ! -e "$PGDATA" ]; then
    initdb --pgdata="$PGDATA" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" \
        --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
    echo "create database $POSTGRES_DATABASE" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA"
