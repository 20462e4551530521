import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/** Returns the running processes with a word in their command line, except this process. */
export function processesWith(word: string): readonly number[] {
  if (!existsSync('/proc/self/cmdline')) return fromPs(word)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter(
      (pid) =>
        read(`/proc/${pid}/cmdline`).includes(word) && !/^State:\s+Z/m.test(read(`/proc/${pid}/status`)),
    )
    .map(Number)
}

function fromPs(word: string): readonly number[] {
  return execFileSync('/bin/ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word))
    .map((line) => parseInt(line, 10))
    .filter((pid) => pid !== process.pid)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Returns a random argument for `sleep`. A test finds its own processes by it. */
export const uniqueSeconds = () => `1${String(Math.random()).slice(2, 12)}`

/** Returns the number of lines in a file; 0 if there is no such file. */
export function linesIn(file: string): number {
  return read(file).split('\n').length - 1
}

/** Returns the state of a process as Linux tells it; `T` is a stopped one. */
export function stateOf(pid: number | undefined): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
}
