import type { Chat } from '@atrium/host/ports/agent'
import { expect, test } from 'vitest'
import { nameFiles, newToolCall } from './tool-call.ts'
import type { ToolCall } from './tool-call.ts'

const labels = { toolName: 'edit', displayName: 'Edit', title: 'Edit' }
const diff = { type: 'diff', path: 'shown.txt' } as const

test.each<[Partial<ToolCall>, readonly string[] | undefined]>([
  [{ kind: 'edit', content: [diff], locations: ['/w/named.txt'] }, ['/w/shown.txt', '/w/named.txt']],
  [{ kind: 'other', content: [diff], locations: ['/w/read.txt'] }, ['/w/shown.txt']],
  [{ kind: 'delete', locations: ['named.txt'] }, ['/w/named.txt']],
  [{ kind: 'move', locations: ['named.txt'] }, ['/w/named.txt']],
  [{ kind: 'read', locations: ['read.txt'] }, undefined],
  [{ kind: 'edit' }, undefined],
  [{ kind: 'execute', content: [diff], locations: ['named.txt'] }, undefined],
  [{ kind: 'edit', content: [diff, { type: 'terminal' }] }, undefined],
])('[O33.5] the files of the call %j are %j', async (given, files) => {
  let named: readonly string[] | undefined
  const writesOnly = async (_: string, paths: readonly string[]) => void (named = paths)
  // The tested function uses no other member.
  const chat = { files: { writesOnly } } as unknown as Chat
  await nameFiles(newToolCall({ ...labels, ...given }, 'c'), chat, '/w')
  expect(named).toEqual(files)
})
