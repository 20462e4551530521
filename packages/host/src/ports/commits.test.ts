import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import type { MemoryFile } from '@atrium/adapters/captures/memory'
import { MemoryCommits } from '../../test/captures/memory-commits.ts'
import { commitsContract } from './contracts/commits.contract.ts'

commitsContract('memory', async () => {
  const captures = new MemoryCaptures()
  const files = new Map<string, MemoryFile>()
  captures.folders.set('/repository', files)
  captures.heads.set('/repository', new Map())
  const commits = new MemoryCommits(captures)
  return {
    directory: '/repository',
    commits,
    elsewhere: '/elsewhere',
    write: async (path, text) =>
      void files.set(path, { bytes: new TextEncoder().encode(text), mode: '100644' }),
    remove: async (path) => void files.delete(path),
    committed: async (path) => {
      const bytes = captures.heads.get('/repository')?.get(path)?.bytes
      return bytes && new TextDecoder().decode(bytes)
    },
    message: async () => commits.messages.at(-1) ?? '',
  }
})
