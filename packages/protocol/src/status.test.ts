import { expect, test } from 'vitest'
import { Activity, Flag, activityOf, hasFlag, withActivity, withFlag } from './status.ts'

test('[P10] a new activity leaves flags and bits of later versions alone, and the number stays positive', () => {
  const later = 2 ** 31 + 128 + Flag.IsRead
  const status = withActivity(later + Activity.InputNeeded, Activity.Idle)
  expect(status).toBe(later + 1)
  expect(activityOf(status)).toBe(Activity.Idle)
  expect(withFlag(status, Flag.IsArchived, true)).toBe(later + 1 + 64)
  expect(hasFlag(withFlag(status, Flag.IsRead, false), Flag.IsRead)).toBe(false)
})
