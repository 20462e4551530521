import type { VcsChange, VcsStatus } from '@atrium/host/ports/vcs'

/** Reads what `git status --porcelain=v2 -z --branch` says. */
export function readStatus(said: Buffer): Omit<VcsStatus, 'remotes'> {
  const status: { -readonly [key in keyof VcsStatus]?: VcsStatus[key] } = {}
  const changes: VcsChange[] = []
  for (const line of said.toString().split('\0')) {
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

/** Nothing for a directory: git does not look into it, because it is a repository of its own. */
function changeOf(line: string): VcsChange | undefined {
  if (line.startsWith('? ')) return line.endsWith('/') ? undefined : { path: line.slice(2), type: 'added' }
  // Modes and hashes have no spaces; paths may have anything.
  const parts = line.split(' ')
  const fields = { '1': 8, u: 10 }[parts[0] ?? '']
  if (fields === undefined) return undefined
  const path = parts.slice(fields).join(' ')
  const inTree = parts[fields === 8 ? 5 : 6] !== nothing
  if (fields === 10) return { path, type: inTree ? 'updated' : 'deleted' }
  const inCommit = parts[3] !== nothing
  if (!inTree) return inCommit ? { path, type: 'deleted' } : undefined
  return { path, type: inCommit ? 'updated' : 'added' }
}

const nothing = '000000'
