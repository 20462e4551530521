import { expect, test } from 'vitest'
import { drive } from './drive.ts'
import { must } from './failure.ts'
import { knowing } from './survivors.ts'
import { isFor, scenes } from './scenes.ts'
import { guided } from './speech.ts'

const guide = { provider: 'guide', speech: guided }

const played = Object.entries(scenes).filter(([, scene]) => isFor(scene, guide))

test.concurrent.each(played)('[B42] the guide plays the scene %s', async (_, scene) => {
  const { outcome, reason, sights = [] } = await drive(guide, scene)
  expect({ outcome, reason }).toEqual({ outcome: 'passed', reason: undefined })
  expect(sights[0]).toMatch(/^ +\d+\.\d\d s  chat\/turnStarted +\w+/)
})

test.concurrent('[B43] what fails says why, and leaves nothing behind', async () => {
  let folder = ''
  const cell = await drive(guide, (stage) => {
    folder = stage.folder
    must(knowing(folder).length > 0, 'nobody is there')
    must(false, 'it was Tuesday')
  })
  expect(cell).toMatchObject({ outcome: 'failed', reason: 'it was Tuesday' })
  expect(knowing(folder)).toEqual([])
})

test.concurrent('[B43] an agent that the host does not have fails, and nothing waits for it', async () => {
  const nobody = { provider: 'nobody', speech: guided }
  const { outcome, reason } = await drive(nobody, () => Promise.reject(new Error('it was there')))
  expect(outcome).toBe('failed')
  expect(reason).not.toContain('it was there')
})
