# Waits until the host has gone, and ends what its terminals have started. $1 is a folder that goes too, $2 the mark that
# stands in the environment of all of them. Nothing is used here that not every system has.

trap '' HUP INT TERM PIPE
folder=$1 mark=$2 sessions=' '

# The host says which sessions there are; when it has gone there is nothing more to read.
while read -r word; do
  one=${word#?}
  case $word in
    +*) sessions="$sessions$one " ;;
    -*) case $sessions in *" $one "*) sessions="${sessions%% "$one" *} ${sessions#* "$one" }" ;; esac ;;
  esac
done

# Those of a session, and those with the mark: they may have left the session, or emptied their environment.
found() {
  if [ -r /proc/self/stat ]; then
    for stat in /proc/[0-9]*/stat; do
      { read -r line <"$stat"; } 2>/dev/null || continue
      pid=${line%% *}
      # The name of a program may hold anything: what counts stands behind the last parenthesis.
      set -- ${line##*) }
      case $1 in Z | X) continue ;; esac
      case $sessions in *" $4 "*) echo "$pid" ;; esac
    done
    grep -lszxF -e "$mark" /proc/[0-9]*/environ | while read -r path; do
      path=${path#/proc/}
      echo "${path%/environ}"
    done
  else
    ps -A -o pid= -o pgid= | while read -r pid group; do
      case $sessions in *" $group "*) echo "$pid" ;; esac
    done
  fi
} 2>/dev/null

# A stopped one hears nothing until it goes on.
for pid in $(found); do
  kill -HUP "$pid" 2>/dev/null
  kill -CONT "$pid" 2>/dev/null
done

# Again and again, because whoever is ended may have started another; not for ever, because some cannot be ended.
round=0
while [ "$round" -lt 20 ]; do
  sleep 0.2
  round=$((round + 1))
  all=$(found)
  if [ -z "$all" ]; then break; fi
  if [ "$round" -ge 5 ]; then kill -KILL $all 2>/dev/null; fi
done
rm -rf "$folder"
