import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { accepted, cancelled, chat, turn, twoClientSession } from '../../../test/two-client-session.ts'
import { FileError } from '../../ports/files.ts'

/** Sets up a turn in a session with the directory `/a`, and with these files. */
async function desk(texts: { readonly [path: string]: string | Uint8Array } = {}) {
  const files = new FakeFiles()
  for (const [path, text] of Object.entries(texts)) files.put(path, text)
  const all = await twoClientSession(
    new ScriptedAgent({ capabilities: { multipleWorkingDirectories: {} } }),
    { machine: { files } },
  )
  const add = (directory: string) =>
    accepted(all.ann, session, { type: 'session/workingDirectorySet', directory })
  const run = await turn(all, 't1')
  return { all, files, add, instructions: () => run.chat.instructions() }
}
const whole = (path: string, text: string) => ({ uri: `file://${path}`, text, isCut: false })
const unused = (path: string, problem: string) => ({ ...whole(path, ''), problem })

test('[N31] AGENTS.md is read, CLAUDE.md only without it, and files in other folders are not', async () => {
  const claude = { '/a/CLAUDE.md': 'Use spaces.', '/a/src/AGENTS.md': 'Below.', '/AGENTS.md': 'Above.' }
  const { instructions, files } = await desk(claude)
  expect(await instructions()).toEqual([whole('/a/CLAUDE.md', 'Use spaces.')])
  files.put('/a/AGENTS.md', '  Use tabs.\n')
  expect(await instructions()).toEqual([whole('/a/AGENTS.md', 'Use tabs.')])
  expect(await (await desk()).instructions()).toEqual([])
})

test('[N31] each working directory has its instructions, in the order of the directories', async () => {
  const { instructions, add } = await desk({
    '/a/AGENTS.md': 'One.',
    '/b/CLAUDE.md': 'Two.',
    '/c/AGENTS.md': 'Three.',
  })
  await add('file:///b')
  expect(await instructions()).toEqual([whole('/a/AGENTS.md', 'One.'), whole('/b/CLAUDE.md', 'Two.')])
})

test('[N31] S-35: a link to a secret file is not followed, and bytes that are no text are not read as text', async () => {
  const { instructions, files } = await desk({ '/a/.env': 'KEY=1' })
  files.links.set('/a/AGENTS.md', '/a/.env')
  expect(await instructions()).toEqual([unused('/a/AGENTS.md', 'it leads to a file that may hold secrets')])
  expect(files.asked.filter(({ what }) => what === 'read')).toEqual([])
  files.links.clear()
  for (const bytes of [new Uint8Array([0xff, 0xfe, 1]), new Uint8Array([65, 0, 66])]) {
    files.put('/a/AGENTS.md', bytes)
    expect(await instructions()).toEqual([unused('/a/AGENTS.md', 'the file is not text')])
  }
})

test('[N31] characters that people do not see are removed', async () => {
  const { instructions } = await desk({ '/a/AGENTS.md': 'Use\u200b tabs.\u202e\u{e0041}\r\n\tAlways.\u0007' })
  expect(await instructions()).toEqual([whole('/a/AGENTS.md', 'Use tabs.\n\tAlways.')])
})

test('[N31] a file that cannot be looked at is reported, and the other file is not read in its place', async () => {
  const { instructions, files } = await desk({ '/a/CLAUDE.md': 'x' })
  const stat = files.stat.bind(files)
  files.stat = async (place) => {
    if (place.path === '/a/AGENTS.md') throw new FileError('refused', 'the system does not allow it')
    return stat(place)
  }
  expect(await instructions()).toEqual([unused('/a/AGENTS.md', 'the system does not allow it')])
})

test('[N31] a turn that is over reads nothing', async () => {
  const { all, instructions } = await desk({ '/a/AGENTS.md': 'x' })
  await accepted(all.ann, chat, cancelled('t1'))
  await expect(instructions()).rejects.toThrow('the turn is over')
})

test('[S-57 instructionBytes] at 1,048,576 bytes a file is read, [S-57 instructionBytes] past 1,048,576 it is not', async () => {
  const { instructionBytes } = limits
  const { instructions, files } = await desk({ '/a/AGENTS.md': `x${' '.repeat(instructionBytes - 1)}` })
  expect(await instructions()).toEqual([whole('/a/AGENTS.md', 'x')])
  files.put('/a/AGENTS.md', `x${' '.repeat(instructionBytes)}`)
  expect(await instructions()).toEqual([unused('/a/AGENTS.md', 'it has more than 1048576 bytes')])
})

test('[S-57 instructionsLength] at 32,768 characters all are read, [S-57 instructionsLength] past 32,768 the rest is left out', async () => {
  const { instructionsLength } = limits
  const text = 'x'.repeat(instructionsLength)
  const { instructions, files, add } = await desk({ '/a/AGENTS.md': text, '/b/AGENTS.md': 'more' })
  expect(await instructions()).toEqual([whole('/a/AGENTS.md', text)])
  files.put('/a/AGENTS.md', `${text.slice(1)}😀`)
  expect(await instructions()).toEqual([{ ...whole('/a/AGENTS.md', text.slice(1)), isCut: true }])
  files.put('/a/AGENTS.md', text.slice(2))
  await add('file:///b')
  expect((await instructions())[1]).toEqual({ ...whole('/b/AGENTS.md', 'mo'), isCut: true })
  files.put('/a/AGENTS.md', text)
  expect((await instructions())[1]).toEqual(unused('/b/AGENTS.md', 'there are too many instructions already'))
})
