import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { House } from '../../test/house.ts'

const program = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))
const house = new House()
const agents = {
  scripted: { command: process.execPath, args: [program], env: { ACP_STORE: house.work } },
  missing: { command: '/no/such/agent' },
}
const mcpServers = {
  tickets: { command: '/opt/tickets', env: { TICKETS_KEY: 'hush-hush' } },
  docs: { url: 'https://docs.example/mcp', headers: { Authorization: 'Bearer hush-hush' } },
}
beforeAll(() => {
  mkdirSync(join(house.home, '.config/atrium'), { recursive: true })
  writeFileSync(join(house.home, '.config/atrium/config.json'), JSON.stringify({ mcpServers }))
  return house.open(agents)
})
afterEach(({ task }) => house.closeWindows(task.result?.state === 'fail'))
afterAll(() => house.close())

const script = ['say I shall write it.', 'call c edit Write it', 'ask c', 'say All is done.'].join('\n')

describe('[Z31] an agent that runs as a program of its own', () => {
  test('its text is shown before its question, and its own choices are', async () => {
    const window = house.window(['run', '--agent', 'scripted', script])
    const asked = await window.until('[r] no, because')
    expect(asked).toMatch(/I shall write it\.\n\? Write it\n\[1\] .* \[r\] no, because/)
    window.press('1')
    expect(await window.ended()).toBe(0)
    // What it says of the answer is another part, which comes before or after the end of the call: whichever is seen first.
    expect(window.text).toMatch(/✓ Write it\n(?:c \S+\n)?All is done\.\n\[exit 0\]$/)
  })

  test('what was agreed to beforehand is the narrowest of its choices', async () => {
    const { status, stdout } = await house.run([
      'run',
      '--agent',
      'scripted',
      '--allow',
      'once',
      '--quiet',
      script,
    ])
    expect([status, stdout]).toEqual([0, expect.stringMatching(/c \S*once/)])
  })

  test('one that is not there is told in a sentence, and the host goes on', async () => {
    const { status, stderr } = await house.run(['run', '--agent', 'missing', 'hello'])
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('missing: there is no program "/no/such/agent"; install it, or'),
    ])
    expect((await house.run(['agents', '--check'])).stdout).toMatch(/^missing .*there is no program/m)
    expect((await house.run(['run', '--quiet', 'say hello'])).stdout).toBe('hello\n')
  })
})

describe('[Z32] MCP servers of a session', () => {
  test('are listed, and switched for the next turn; what they are shown is in nothing that is told', async () => {
    await house.run(['run', '--agent', 'scripted', '--quiet', 'say hello'])
    expect((await house.run(['mcp', 'last'])).stdout).toBe(
      'tickets  on  ready\ndocs     on  this agent cannot talk to an MCP server by http\n',
    )
    const off = await house.run(['mcp', 'last', 'tickets', '--off'])
    expect([off.status, off.stderr + off.stdout]).toEqual([0, 'tickets is off from the next turn on.\n'])
    await house.run(['send', 'last', 'say again', '--wait'])
    const listed = (await house.run(['mcp', 'last', '--json'])).stdout.split('\n').filter(Boolean)
    expect(listed.map((line) => JSON.parse(line) as object)).toMatchObject([
      { name: 'tickets', on: false, state: { kind: 'stopped' } },
      { name: 'docs', on: true, state: { kind: 'error' } },
    ])
    const opened = readFileSync(join(house.work, 'opened'), 'utf8').trim().split('\n').slice(-2)
    expect(opened.map((line) => line.includes('/opt/tickets'))).toEqual([true, false])
    for (const about of [
      ['export', 'last', '--format', 'json'],
      ['logs', 'last', '--json'],
      ['agents', '--json'],
      ['doctor', '--json'],
    ])
      expect((await house.run(about)).stdout).not.toMatch(/hush-hush/)
  })

  test.each([
    [['mcp', 'last', 'nobody', '--on'], "There is no MCP server 'nobody' here; there is: tickets, docs."],
    [['mcp', 'last', 'tickets'], 'A server is switched with its name and --on or --off.'],
    [['mcp', 'last', '--on'], 'A server is switched with its name and --on or --off.'],
    [['mcp', 'last', 'tickets', '--on', '--off'], '--on and --off exclude each other; leave one out.'],
  ])('%j is typed wrong', async (args, words) => {
    const { status, stderr } = await house.run(args)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('a session of an agent that takes none has none', async () => {
    await house.run(['run', '--quiet', 'say hello'])
    expect((await house.run(['mcp', 'last'])).stderr).toContain('has no MCP servers')
  })
})
