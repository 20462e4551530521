import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { FormatName } from './formats.ts'
import type { Hook } from './hooks.ts'
import type { Component } from './plugin.ts'
import type { ServerConfig } from './servers.ts'
import { withDirectories } from './variables.ts'

const directories = { root: '/plugins/p', data: '/data/p' }
const every = '${PLUGIN_ROOT} ${CLAUDE_PLUGIN_ROOT} ${PLUGIN_DATA} ${HOME} $PLUGIN_ROOT'

function server(format: FormatName, config: ServerConfig, at = directories): ServerConfig | undefined {
  const child = { type: 'mcpServer', id: 'i', uri: 'u', name: 'n', state: { kind: 'stopped' } } as const
  const component: Component = { kind: 'mcpServer', child, path: '', server: config }
  const result = withDirectories(component, format, at)
  return result.kind === 'mcpServer' ? result.server : undefined
}

function hook(format: FormatName, given: Hook, at = directories): Hook | undefined {
  const child = { type: 'hook', id: 'i', uri: 'u', name: 'n' } as const
  const result = withDirectories({ kind: 'hook', child, path: '', hooks: [given] }, format, at)
  return result.kind === 'hook' ? result.hooks[0] : undefined
}

const [root, data] = ['/plugins/p', '/data/p']
const bothRoots = { PLUGIN_ROOT: root, CLAUDE_PLUGIN_ROOT: root }

test.each([
  ['open', `${root} ${root} ${data}`, { ...bothRoots, PLUGIN_DATA: data }],
  ['claude', `${root} ${root} \${PLUGIN_DATA}`, bothRoots],
  ['copilot', `${root} ${root} \${PLUGIN_DATA}`, bothRoots],
] as const)('[K11.1] [K11] servers of the format %s', (format, expanded, env) => {
  const text = `${expanded} \${HOME} $PLUGIN_ROOT`
  expect(
    server(format, { command: every, args: [every], env: { A: every, PLUGIN_ROOT: 'mine' }, cwd: every }),
  ).toEqual({
    command: text,
    args: [text],
    env: { A: text, ...env },
    cwd: text,
  })
})

test('[K11] servers of Agent Plugins: not in the command, and only its own variables', () => {
  const text = `${root} \${CLAUDE_PLUGIN_ROOT} ${data} \${HOME} $PLUGIN_ROOT`
  expect(server('agent', { command: every, args: [every], env: { A: every }, cwd: every })).toEqual({
    command: every,
    args: [text],
    env: { A: text, PLUGIN_ROOT: root, PLUGIN_DATA: data },
    cwd: text,
  })
  const remote = { url: 'https://a/${PLUGIN_ROOT}', headers: { A: '${PLUGIN_DATA}' } }
  for (const format of ['agent', 'open'] as const) expect(server(format, remote)).toEqual(remote)
})

test('[K11.1] [K11] a directory whose name is a variable is not expanded again', () => {
  const odd = { root: '/${PLUGIN_DATA}/$&', data: '/${PLUGIN_ROOT}' }
  expect(server('agent', { command: 'x', args: ['${PLUGIN_ROOT}', '${PLUGIN_DATA}'] }, odd)).toMatchObject({
    args: [odd.root, odd.data],
  })
})

test.each([
  ['open', `${root} \${CLAUDE_PLUGIN_ROOT} ${data}`, { PLUGIN_ROOT: root, PLUGIN_DATA: data }],
  ['agent', `${root} \${CLAUDE_PLUGIN_ROOT} ${data}`, { PLUGIN_ROOT: root, PLUGIN_DATA: data }],
  ['claude', `\${PLUGIN_ROOT} ${root} \${PLUGIN_DATA}`, { CLAUDE_PLUGIN_ROOT: root }],
  ['copilot', '${PLUGIN_ROOT} ${CLAUDE_PLUGIN_ROOT} ${PLUGIN_DATA}', undefined],
] as const)('[K11] hooks of the format %s', (format, expanded, env) => {
  const any = `${expanded} \${HOME} $PLUGIN_ROOT`
  const expected = { event: 'Stop', command: { any, windows: any } }
  expect(hook(format, { event: 'Stop', command: { any: every, windows: every } })).toEqual(
    env ? { ...expected, env } : expected,
  )
})

test('[K11.2] [K11] in a command line a directory stays one word, whatever its name is', () => {
  const line = `printf '%s\\n' \${PLUGIN_ROOT}/x "\${PLUGIN_ROOT}/y" '\${PLUGIN_ROOT}/z' \\"\${PLUGIN_ROOT}`
  for (const odd of ['/a b', `/it's "q" $(touch x) \`id\` \\`, '/$HOME;&|<>*?', '/plain']) {
    const given = hook('open', { event: 'Stop', command: { any: line } }, { root: odd, data: '/d' })
    const printed = execFileSync('sh', ['-c', given?.command.any ?? ''], { encoding: 'utf8' })
    expect(printed).toBe(`${odd}/x\n${odd}/y\n${odd}/z\n"${odd}\n`)
  }
  const windows = '& ${PLUGIN_ROOT}/x "${PLUGIN_ROOT}"'
  const odd = { root: "C:/it's $x", data: '/d' }
  expect(hook('open', { event: 'Stop', command: { windows } }, odd)?.command.windows).toBe(
    "& 'C:/it''s $x'/x \"C:/it's `$x\"",
  )
})
