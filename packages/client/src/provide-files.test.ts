import { expect, test } from 'vitest'
import { provideFiles } from './provide-files.ts'

const channel = 'ahp-root://'
const files = provideFiles('app:/kit', {
  'plugin.json': '{}',
  'skills/a b/SKILL.md': 'A.',
  'skills/icon.png': new Uint8Array([0, 255]),
})
const list = (uri: string) => files.resourceList?.({ channel, uri })
const read = (uri: string) => files.resourceRead?.({ channel, uri })

test('[U12] the folders of provided files are listed', () => {
  expect(list('app:/kit')).toEqual({
    entries: [
      { name: 'plugin.json', type: 'file' },
      { name: 'skills', type: 'directory' },
    ],
  })
  expect(list('app:/kit/skills')).toEqual({
    entries: [
      { name: 'a b', type: 'directory' },
      { name: 'icon.png', type: 'file' },
    ],
  })
})

test('[U12] texts and bytes are read', () => {
  expect(read('app:/kit/skills/a%20b/SKILL.md')).toEqual({ data: 'A.', encoding: 'utf-8' })
  expect(read('app:/kit/skills/icon.png')).toEqual({ data: 'AP8=', encoding: 'base64' })
})

test.each(['app:/kit/none', 'app:/kit/skill', 'app:/other', 'app:/kits', 'file:///etc/passwd', 'app:/kit/%'])(
  '[U12] %s is not found',
  (uri) => {
    expect(() => read(uri)).toThrow('this client has no')
    expect(() => list(uri)).toThrow('this client has no')
  },
)
