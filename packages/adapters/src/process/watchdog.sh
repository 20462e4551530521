# Waits until the host has gone. Then ends the processes that the host's terminals and agents have started. $1 is a folder to
# remove. $2 is the marker (NAME=value) in the environment of these processes. All commands are POSIX except `grep -z`, which
# is used only where /proc exists.

trap '' HUP INT TERM PIPE
folder=$1 marker=$2 sessions=' '

# The host writes `+<session>` when a POSIX session begins and `-<session>` when it has ended. When the host has gone, the
# pipe closes, which ends the loop.
while read -r line; do
  id=${line#?}
  case $line in
    +*) sessions="$sessions$id " ;;
    -*) case $sessions in *" $id "*) sessions="${sessions%% "$id" *} ${sessions#* "$id" }" ;; esac ;;
  esac
done

# Prints the processes in the sessions, and the processes with the marker. Both searches are needed, because a process may
# have left its session, and another may have cleared its environment.
found() {
  if [ -r /proc/self/stat ]; then
    for stat in /proc/[0-9]*/stat; do
      { read -r line <"$stat"; } 2>/dev/null || continue
      pid=${line%% *}
      # A program name may contain spaces and parentheses, so the fields are read after the last parenthesis.
      set -- ${line##*) }
      case $1 in Z | X) continue ;; esac
      case $sessions in *" $4 "*) echo "$pid" ;; esac
    done
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
