# Waits until the host has gone. Then ends the processes that the host's terminals and agents have started. $1 is a folder to
# remove. $2 is the marker (NAME=value) in the environment of these processes. All commands are POSIX except `grep -z`, which
# is used only where /proc exists, and fractions of a second for `sleep`.

trap '' HUP INT TERM PIPE
folder=$1 marker=$2 sessions=' ' rang='' lapsed='' held='' pending='' mark=''

# Calls $1 with each process in the sessions. It starts no other process.
scan() {
  call=$1
  for stat in /proc/[0-9]*/stat; do
    { read -r fields <"$stat"; } 2>/dev/null || continue
    pid=${fields%% *}
    # A program name may contain spaces and parentheses, so the fields are read after the last parenthesis.
    set -- ${fields##*) }
    case $1 in Z | X) continue ;; esac
    case $sessions in *" $4 "*) "$call" "$pid" ;; esac
  done
}

end() {
  kill -KILL "$1" 2>/dev/null
}

# Prints the processes in the sessions, and the processes with the marker. Both searches are needed, because a process may
# have left its session, and another may have cleared its environment.
found() {
  if [ -r /proc/self/stat ]; then
    scan echo
    grep -lszxF -e "$marker" /proc/[0-9]*/environ | while read -r path; do
      path=${path#/proc/}
      echo "${path%/environ}"
    done
  else
    ps -A -o pid= -o pgid= | while read -r pid group; do
      case $sessions in *" $group "*) echo "$pid" ;; esac
    done
  fi
} 2>/dev/null

# Waits for $1 seconds, and then rings until it is cancelled, because a ring that comes just before a `read` is noticed only
# after it. `sleep` counts on the monotonic clock.
timer() {
  asleep=''
  trap 'kill -KILL "$asleep" 2>/dev/null; exit 0' USR2
  sleep "$1" &
  asleep=$!
  wait "$asleep"
  while kill -USR1 $$ 2>/dev/null; do sleep 0.2; done
}

cancel() {
  for each in $*; do kill -USR2 "$each" 2>/dev/null; done
}

# Ends the processes at once, because the lease of the host is about to end (L43). The process groups of the sessions come
# first, because that needs no search, and then the other processes in the sessions, because that needs no other process: both
# take long on a busy machine. Then there are several rounds, because a process may start another before it ends. Then it
# rings again, because a host that was stopped may start a process when it goes on. A mark from before the first ring is too
# old to be confirmed.
ring() {
  rang=1
  cancel $held
  if [ -z "$lapsed" ]; then
    cancel $pending
    lapsed=1 pending='' mark=''
  fi
  for each in $sessions; do kill -s KILL -- "-$each" 2>/dev/null; done
  if [ -r /proc/self/stat ]; then scan end; fi
  for _ in 1 2 3; do
    all=$(found)
    if [ -z "$all" ]; then break; fi
    kill -KILL $all 2>/dev/null
  done
  timer 0.5 </dev/null >/dev/null &
  held=$!
}
trap ring USR1

# The host writes `+<session>` when a POSIX session begins and `-<session>` when it has ended. A host with a lease writes
# `?<mark> <seconds>` before it requests the lease, and waits for the answer; `=<mark>` when it has got the lease; `!` when it
# has lost it; and `.` when it has given it back. When the host has gone, the pipe closes, which ends the loop.
while :; do
  rang=''
  if ! read -r line; then
    # A ring interrupts `read`, too.
    if [ -z "$rang" ] || ! kill -0 "$PPID" 2>/dev/null; then break; fi
    continue
  fi
  id=${line#?}
  case $line in
    +*) sessions="$sessions$id " ;;
    -*) case $sessions in *" $id "*) sessions="${sessions%% "$id" *} ${sessions#* "$id" }" ;; esac ;;
    \?*)
      cancel $pending
      timer "${id#* }" </dev/null >/dev/null &
      pending=$! mark=${id%% *}
      echo "$mark"
      ;;
    =*)
      if [ "$id" = "$mark" ]; then
        cancel $held
        held=$pending lapsed='' pending='' mark=''
      fi
      ;;
    !)
      cancel $held $pending
      timer 0 </dev/null >/dev/null &
      held=$! lapsed=1 pending='' mark=''
      ;;
    .)
      cancel $held $pending
      held='' lapsed='' pending='' mark=''
      ;;
  esac
done
trap '' USR1
cancel $held $pending

# A stopped process receives SIGHUP only after SIGCONT.
for pid in $(found); do
  kill -HUP "$pid" 2>/dev/null
  kill -CONT "$pid" 2>/dev/null
done

# There are several rounds, because a process may start another before it ends. Their number is limited, because some
# processes cannot be ended.
round=0
while [ "$round" -lt 20 ]; do
  sleep 0.2
  round=$((round + 1))
  all=$(found)
  if [ -z "$all" ]; then break; fi
  if [ "$round" -ge 5 ]; then kill -KILL $all 2>/dev/null; fi
done
rm -rf "$folder"
