import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'

test('[L15] a key of the root config may have the name of an object property', async () => {
  const ann = await (await testHost()).join('ann')
  const config = { constructor: 'mine', toString: 1 }
  const { rejectionReason } = await ann.echo(ann.dispatch(rootUri, { type: 'root/configChanged', config }))
  expect(rejectionReason).toBeUndefined()
})
