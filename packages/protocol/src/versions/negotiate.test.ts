import { expect, test } from 'vitest'
import { AhpError, errorCodes } from '../errors.ts'
import { negotiate, versions } from './negotiate.ts'

test.each([
  [['1.0.0'], '1.0.0', '1.0.0'],
  [['1.4.0'], '1.4.0', '1.0.0'],
  [['0.9.0', '1.0.0'], '1.0.0', '1.0.0'],
  [['1.0.0', '0.9.0'], '1.0.0', '1.0.0'],
  [['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1'], '0.9.0', '0.9.0'],
  [['2.0.0', '0.9.7'], '0.9.7', '0.9.0'],
  [['0.10.0'], '0.10.0', '1.0.0'],
  [['0.10.3', '0.9.0'], '0.10.3', '1.0.0'],
  [['0.9.0', '0.10.0', '1.0.0'], '1.0.0', '1.0.0'],
  [['0.11.0', '0.4.0'], '0.4.0', '0.4.0'],
  [['0.5.0'], '0.5.0', '0.5.0'],
  [['0.5.1'], '0.5.1', '0.5.1'],
  [['0.5.9'], '0.5.9', '0.5.2'],
  [['0.1.0'], '0.1.0', '0.1.0'],
  [['0.1.3'], '0.1.3', '0.1.0'],
])(
  '[V1.1] [V1.3] [V1] the offer %j gets the response %s and is served as %s',
  (offered, answered, version) => {
    expect(negotiate(offered)).toEqual({ offered: answered, version })
  },
)

test('[V1.2] the generations are the releases of AHP whose form differs', () => {
  const older = '0.1.0 0.2.0 0.3.0 0.4.0 0.5.0 0.5.1 0.5.2 0.6.0 0.7.0 0.8.0 0.9.0'
  expect(versions).toEqual([...older.split(' '), '1.0.0'])
})

test.each([[[]], [['2.0.0']], [['0.11.0']], [['0.0.1']]])(
  '[V2] the offer %j is refused, with the supported versions as data',
  (offered) => {
    expect.assertions(1)
    try {
      negotiate(offered)
    } catch (error) {
      expect(error).toMatchObject({
        code: errorCodes.UnsupportedProtocolVersion,
        data: { supportedVersions: [...versions.slice(0, -1), '0.10.0', '1.0.0'] },
      })
    }
  },
)

test('[V2] the refusal says which side is behind', () => {
  expect(() => negotiate(['3.0.0'])).toThrow('this host is older than the client')
  expect(() => negotiate(['0.0.9', '3.0.0'])).toThrow('the client offers no version that this host supports')
})

test.each([
  '1',
  '1.0',
  'v1.0.0',
  '01.0.0',
  '1.0.0-dev',
  '1.0.0+x',
  '1.0.0 ',
  '',
  '1e9.0.0',
  '9999999999.0.0',
])('[V2] the malformed version %j is refused, also beside a valid one', (text) => {
  expect.assertions(2)
  try {
    negotiate(['1.0.0', text])
  } catch (error) {
    expect(error).toBeInstanceOf(AhpError)
    expect(error).toMatchObject({ code: errorCodes.InvalidParams })
  }
})

test('[V1] a host without 1.0.0 does not speak 0.10.0, either', () => {
  expect(() => negotiate(['0.10.0'], ['0.9.0'])).toThrow('this host is older than the client')
})

test('[V1] a host may support fewer versions', () => {
  expect(negotiate(['1.0.0', '0.9.0'], ['0.9.0'])).toEqual({ offered: '0.9.0', version: '0.9.0' })
})
