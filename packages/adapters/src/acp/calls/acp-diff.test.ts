import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom, session } from '../../../test/acp-room.ts'

test.each([
  ['write', '{"kind":"other","title":"write · a"', { path: 'a', content: 'one\nTWO\n' }],
  ['Write', '{"kind":"edit"', { file_path: 'a', content: 'one\nTWO\n' }],
  ['edit', '{"kind":"other","name":"edit"', { path: 'a', before: 'two', after: 'TWO' }],
  ['Edit', '{"kind":"edit"', { path: 'a', old_string: 'two', new_string: 'TWO', replace_all: false }],
  ['editor', '{"kind":"other","title":"editor: a"', { path: 'a', old_text: 'two', new_text: 'TWO' }],
  ['editor', '{"kind":"other","title":"editor: a"', { path: 'a', new_text: 'one\nTWO\n', insert_line: null }],
  [
    'apply_patch',
    '{"kind":"other","title":"apply_patch: …"',
    { input: patch('Update File: a', '@@', ' one', '-two', '+TWO') },
  ],
  [
    'apply_patch',
    '{"kind":"other","title":"apply_patch: …"',
    { input: patch('Add File: a', '+one', '+TWO') },
  ],
])('[N44.8] the input of the tool %s (%s) is shown as a diff', async (_, members, rawInput) => {
  const room = await acpRoom()
  writeFileSync(join(room.folder, 'a'), 'one\ntwo\n')
  const turnId = room.begin(`ask c1 ${members},"rawInput":${JSON.stringify(rawInput)}}`)
  const call = await room.pendingCall()
  const [edit] = (call.status === 'pending-confirmation' && call.edits?.items) || []
  const read = (uri = '') => room.ann.ask('resourceRead', { channel: session, uri })
  expect(await read(edit?.before?.content.uri)).toMatchObject({ data: 'one\ntwo\n' })
  expect(await read(edit?.after?.content.uri)).toMatchObject({ data: 'one\nTWO\n' })
  room.decide(call, true)
  await room.ended(turnId)
})

test.each([
  ['{"kind":"other","title":"compare"', { path: 'a', content: 'x' }],
  ['{"kind":"edit"', { path: '/etc/passwd', content: 'x' }],
  ['{"kind":"edit"', { path: 'a', old_string: 'gone', new_string: 'x' }],
  ['{"kind":"edit"', { path: 7, content: 'x' }],
  ['{"kind":"edit"', { path: 'a', new_text: 'x', insert_line: 1 }],
  ['{"kind":"edit"', { input: patch('Update File: a', '@@', '-one', '+1', '@@', '-two', '+2') }],
  ['{"kind":"edit"', { input: patch('Update File: a', '-one', '+1', '*** Delete File: b') }],
  ['{"kind":"edit"', { input: patch('Delete File: a') }],
  ['{"kind":"edit"', { input: patch('Update File: a', '@@', '-gone', '+x') }],
  ['{"kind":"edit"', { input: 'one' }],
])(
  '[N44.8] the input of a call that changes no file of the session (%s, %j) is no diff',
  async (members, rawInput) => {
    const room = await acpRoom()
    writeFileSync(join(room.folder, 'a'), 'one\ntwo\n')
    room.begin(`ask c1 ${members},"rawInput":${JSON.stringify(rawInput)}}`)
    const call = await room.pendingCall()
    expect(call).toMatchObject({ toolInput: JSON.stringify(rawInput) })
    expect(call).not.toHaveProperty('edits')
  },
)

function patch(...[first, ...lines]: readonly string[]): string {
  return ['*** Begin Patch', `*** ${first}`, ...lines, '*** End Patch', ''].join('\n')
}
