import type { LogLine } from '@atrium/host/telemetry'
import { expect, test } from 'vitest'
import { banner, quietBanner, readyLine } from './banner.ts'
import { openLog } from './log-file.ts'
import { LogLines } from './telemetry/log-lines.ts'

const token = 'canary-canary-canary'
const url = 'ws://127.0.0.1:1/'

test('S-05: a secret is in no line of the log, in whichever field it was', () => {
  const lines: string[] = []
  const log = openLog('trace', [token], (line) => lines.push(line))
  log.info(token)
  log.info({ deep: { er: { than: { any: `x${token}y` } } } }, 'hello')
  log.warn({ err: new Error(`no ${token}`) }, 'failed')
  log.debug({ [token]: 1 })
  log.child({ who: token }).fatal('bye')
  expect(lines.length).toBe(5)
  expect(lines.join('')).not.toContain(token)
  expect(lines.map((line) => typeof JSON.parse(line))).toEqual(Array(5).fill('object'))
})

test('S-05: values of secret keys are redacted, also when the secret is not known', () => {
  const lines: string[] = []
  const log = openLog('info', [], (line) => lines.push(line))
  log.info({ token, headers: { authorization: token }, request: { query: { tkn: token } } }, 'asked')
  expect(lines.join('')).not.toContain(token)
})

test('[D7] the token is printed on a terminal and with --json, and nowhere else', () => {
  const notes = ['Port 1 is taken; this is 2.']
  const announcement = { version: '1', url, token, tokenFile: '/data/token', notes }
  expect(banner(announcement)).toContain(`${url}?tkn=${token}\n`)
  expect(banner(announcement).split('\n').length).toBeLessThanOrEqual(10)
  expect(quietBanner(announcement)).toBe(
    `Atrium listens on ${url} (the token: /data/token)\nPort 1 is taken; this is 2.\n`,
  )
  const page = 'http://127.0.0.1:1/'
  expect(quietBanner({ ...announcement, page, notes: [] })).toBe(
    `Atrium listens on ${url} (the token: /data/token)\nThe web page: ${page}; a link that lets a browser in: atrium web (in a clone: npx atrium web)\n`,
  )
  expect(readyLine(announcement)).toBe(
    `{"event":"ready","url":"${url}","token":"${token}","pid":${process.pid}}\n`,
  )
})

test('[T32] each line of the log is a record without its secrets, from the level of the log on', () => {
  const lines = new LogLines()
  const log = openLog('info', ['canary-canary'], lines.write)
  log.warn('nobody listens')
  const heard: LogLine[] = []
  const end = lines.listen((line) => heard.push(line))
  log.debug('not written')
  log.info({ urls: ['ws://x/'] }, 'listening')
  log.warn({ detail: 'canary-canary' }, 'refused')
  log.error({ err: new Error('no room') }, 'failed')
  log.fatal('over')
  end()
  log.warn('too late')
  expect(heard.map(({ level, text }) => [level, text])).toEqual([
    ['info', 'listening: {"urls":["ws://x/"]}'],
    ['warn', 'refused: [secret]'],
    ['error', 'failed: no room'],
    ['fatal', 'over'],
  ])
  expect(heard.every(({ at }) => Math.abs(at - Date.now()) < 3_600_000)).toBe(true)
})
