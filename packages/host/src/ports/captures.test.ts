import { MemoryCaptures } from '../../test/captures/memory-captures.ts'
import type { MemoryFile } from '../../test/captures/memory-captures.ts'
import { applyContract } from './contracts/captures-apply.contract.ts'
import { capturesContract } from './contracts/captures.contract.ts'
import type { CapturedFolder } from './contracts/captures.contract.ts'

async function open(): Promise<CapturedFolder> {
  const captures = new MemoryCaptures()
  const directory = '/work'
  const files = new Map<string, MemoryFile>()
  captures.folders.set(directory, files)
  return {
    captures,
    directory,
    async write(path, content, mode = '100644') {
      files.set(path, {
        bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content,
        mode,
      })
    },
    async remove(path) {
      files.delete(path)
    },
    text: async (path) => (files.has(path) ? new TextDecoder().decode(files.get(path)?.bytes) : undefined),
    async ignore(name) {
      captures.ignored.add(name)
    },
    async commit() {
      captures.heads.set(directory, new Map(files))
      captures.branches.set(directory, new Map(files))
    },
    restart: async () => captures,
  }
}

capturesContract('memory', open)
applyContract('memory', open)
