import type { VcsChange, VcsStatus } from '@atrium/host/ports/vcs'

/** Parses the output of `git status --porcelain=v2 -z --branch`. */
export function parseStatus(stdout: Buffer): Omit<VcsStatus, 'remotes'> {
  const status: { -readonly [key in keyof VcsStatus]?: VcsStatus[key] } = {}
  const changes: VcsChange[] = []
  for (const line of stdout.toString().split('\0')) {
    const [, key, value = ''] = /^# branch\.(\w+) ([^]*)$/.exec(line) ?? []
    if (key === 'oid' && value !== '(initial)') status.commit = value
    else if (key === 'head' && value !== '(detached)') status.branch = value
    else if (key === 'upstream') status.upstream = value
    else if (key === 'ab') {
      const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(value) ?? []
      if (ahead !== undefined && behind !== undefined) {
        status.ahead = Number(ahead)
        status.behind = Number(behind)
      }
    }
    const change = changeOf(line)
    if (change) changes.push(change)
  }
  return { ...status, changes }
}

/**
 * Returns the change that a line tells; undefined for any other line, and for a directory. Git lists a directory only
 * if it is a nested repository, and does not look into it.
 */
function changeOf(line: string): VcsChange | undefined {
  if (line.startsWith('? ')) return line.endsWith('/') ? undefined : { path: line.slice(2), type: 'added' }
  // The path is everything after a fixed number of fields, because a path may contain spaces.
  const parts = line.split(' ')
  const fields = { '1': 8, u: 10 }[parts[0] ?? '']
  if (fields === undefined) return undefined
  const path = parts.slice(fields).join(' ')
  const inTree = parts[fields === 8 ? 5 : 6] !== absent
  if (fields === 10) return { path, type: inTree ? 'updated' : 'deleted' }
  const inCommit = parts[3] !== absent
  if (!inTree) return inCommit ? { path, type: 'deleted' } : undefined
  return { path, type: inCommit ? 'updated' : 'added' }
}

/** The mode of a file that does not exist. */
const absent = '000000'
