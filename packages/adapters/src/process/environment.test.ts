import { expect, test } from 'vitest'
import { line } from '../../test/shells.ts'
import { findShell } from '../terminals/shell.ts'

const hostile = {
  ATRIUM_TOKEN: 'secret',
  ATRIUM_DATA: 'x',
  NODE_OPTIONS: '--require evil',
  LD_PRELOAD: '/evil.so',
  LD_LIBRARY_PATH: '/evil',
  DYLD_INSERT_LIBRARIES: '/evil',
  npm_config_registry: 'x',
  npm_lifecycle_event: 'x',
  GIT_DIR: '/evil',
  GIT_SSH_COMMAND: 'evil',
  GITHUB_TOKEN: 'x',
  ANTHROPIC_API_KEY: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  BASH_ENV: '/evil',
  ENV: '/evil',
  PROMPT_COMMAND: 'evil',
  PS1: 'evil',
  IFS: 'x',
  XDG: 'x',
  LC_: 'x',
  MYPATH: 'x',
  PATH_: 'x',
  TERM: 'dumb',
  TERM_PROGRAM: 'other',
  TERM_SESSION_ID: 'other',
  COLUMNS: '1',
  'BASH_FUNC_x%%': '() { evil; }',
}

const allowed = {
  PATH: '/usr/bin:/bin',
  HOME: '/tmp',
  USER: 'ann',
  LOGNAME: 'ann',
  LANG: 'C.UTF-8',
  LANGUAGE: 'en',
  LC_ALL: 'C.UTF-8',
  LC_CTYPE: 'C.UTF-8',
  TZ: 'UTC',
  TMPDIR: '/tmp',
  XDG_RUNTIME_DIR: '/run',
  XDG_CONFIG_HOME: '/c',
  SSH_AUTH_SOCK: '/s',
  EDITOR: 'vi',
  VISUAL: 'vi',
  PAGER: 'cat',
}

test('[S-38] a program gets exactly the variables on the list', async () => {
  const { text, exited } = await line('tr "\\0" "\\n" </proc/$$/environ || env', {
    env: { ...allowed, ...hostile, SHELL: '/bin/other', COLORTERM: 'x' },
  })
  await exited()
  const environment = Object.fromEntries(
    text()
      .trim()
      .split('\r\n')
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  )
  expect(environment).toEqual({
    ...allowed,
    SHELL: '/bin/sh',
    COLORTERM: 'truecolor',
    TERM: 'xterm-256color',
    TERM_PROGRAM: 'atrium',
    TERM_SESSION_ID: expect.stringMatching(/^[\da-f]{32}$/),
    PWD: expect.stringMatching(/^\//),
  })
})

test('[S-40] the shell is the configured one, else the user’s, else one that always exists', () => {
  expect(findShell('/bin/sh', { SHELL: '/bin/bash' })).toBe('/bin/sh')
  expect(findShell(undefined, { SHELL: '/bin/sh' })).toBe('/bin/sh')
  for (const SHELL of [
    'sh',
    './sh',
    '/no/such',
    '/tmp',
    '/etc/passwd',
    '/bin/false',
    '/usr/sbin/nologin',
    '',
    undefined,
  ])
    expect(findShell(undefined, { SHELL }), SHELL).toBe('/bin/bash')
  for (const configured of ['sh', '/no/such', '/etc/passwd', '/bin/false'])
    expect(() => findShell(configured, {})).toThrow(/no shell/)
})

test.each(['-c', '--help', '-x; exit 9', ';id', '$(id)', "'", '--upload-pack=x'])(
  '[S-40] the line %j is interpreted by the shell only, as a command',
  async (command) => {
    const { text, exited } = await line(command)
    expect(await exited()).toBeGreaterThan(0)
    expect(text()).toMatch(/not found|Syntax error|Illegal/)
  },
)
