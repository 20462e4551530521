import { errorData } from '@atrium/protocol/error-data'
import { errorCodes } from '@atrium/protocol/errors'
import { Failed, Skipped, check, fits, same, shown } from '../kit/check.ts'
import { refusalOf } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'

/** A generation that nobody will speak for a while. */
const far = '987.0.0'

const malformed = ['1.0', 'v1.0.0', '01.0.0', '1.0.0-beta', '1.0.0+build', '^1.0.0', 'one', '']

export const versions: Topic = {
  name: 'versions',
  everyVersion: true,
  rules: [
    {
      id: 'K20',
      title: 'the version in the answer is one that was offered, letter by letter',
      source: 'negotiation: the host selects from the offer',
      async run(kit) {
        same('the version', kit.version, await chosen(kit, [far, kit.version]))
      },
    },
    {
      id: 'K21',
      title: 'the highest version that both speak is taken, whatever the order of the offer',
      source: 'negotiation since 1.0: the order of an offer means nothing',
      async run(kit) {
        sinceNine(kit)
        const later = laterPatch(kit.version)
        if (!(await speaks(kit, later)))
          throw new Skipped(kit.offer.unspoken ?? `the host refuses ${later}: see K22`)
        same('rising offer', later, await chosen(kit, [kit.version, later]))
        same('falling offer', later, await chosen(kit, [later, kit.version]))
      },
    },
    {
      id: 'K22',
      title: 'a later patch of a version the host speaks is taken, and answered as it was offered',
      source: 'negotiation: compatible is what the caret rule says',
      async run(kit) {
        sinceNine(kit)
        await chosen(kit, [kit.version])
        const later = laterPatch(kit.version)
        same('the version', later, await chosen(kit, [later]))
      },
    },
    {
      id: 'K23',
      title: 'no common version: -32005, with supportedVersions in its data',
      source: 'errors: what UnsupportedProtocolVersion carries since 0.9',
      async run(kit) {
        sinceNine(kit)
        await refusedVersions(await kit.open())
      },
    },
    {
      id: 'K24',
      title: 'no common version: the host closes the link',
      source: 'negotiation: a refusal ends the connection',
      async run(kit) {
        const client = await kit.open()
        const answer = await client.ask('initialize', { protocolVersions: [far], clientId: client.clientId })
        refusalOf('initialize', answer, [])
        await client.until('the host to close the link', () => client.closed)
      },
    },
    {
      id: 'K25',
      title: 'an offer that is no MAJOR.MINOR.PATCH is an error',
      source: 'negotiation: the form of a version string',
      async run(kit) {
        for (const version of malformed) await refusedOffer(kit, [version])
      },
    },
    {
      id: 'K26',
      title: 'an empty offer is an error',
      source: 'negotiation: a version that was not offered cannot be selected',
      async run(kit) {
        await refusedOffer(kit, [])
      },
    },
    {
      id: 'K27',
      title: 'each version that a refusal lists is taken when it is offered',
      source: 'errors: supportedVersions says what the client should come back with',
      async run(kit) {
        sinceNine(kit)
        const listed = await refusedVersions(await kit.open())
        // An entry may also be a range.
        const exact = listed.filter((entry) => /^\d+\.\d+\.\d+$/.test(entry))
        if (exact.length === 0) throw new Skipped(`no exact version is listed: ${shown(listed)}`)
        for (const version of exact) same('the version', version, await chosen(kit, [version]))
      },
    },
  ],
}

/** Older generations knew neither the caret rule nor data that has to be there. */
function sinceNine({ version }: Kit): void {
  if (/^0\.[0-8]\./.test(version)) throw new Skipped(`AHP ${version} leaves this to the host`)
}

/** What the host makes of an offer on a new link. A host that does not speak the kit's version is not judged by it. */
async function chosen(kit: Kit, protocolVersions: readonly string[]): Promise<string> {
  const answer = await offer(kit, protocolVersions)
  const { unspoken } = kit.offer
  if (unspoken !== undefined && protocolVersions.includes(kit.version)) throw new Skipped(unspoken)
  if ('error' in answer)
    throw new Failed(`a result of initialize with ${shown(protocolVersions)}`, shown(answer.error))
  return String((answer.result as { readonly protocolVersion?: unknown } | null)?.protocolVersion)
}

async function speaks(kit: Kit, version: string): Promise<boolean> {
  return 'result' in (await offer(kit, [version]))
}

async function refusedOffer(kit: Kit, protocolVersions: readonly string[]): Promise<void> {
  refusalOf(`initialize with ${shown(protocolVersions)}`, await offer(kit, protocolVersions), [])
}

async function refusedVersions(client: Client): Promise<readonly string[]> {
  const params = { protocolVersions: [far], clientId: client.clientId }
  const { data } = await client.refused('initialize', params, errorCodes.UnsupportedProtocolVersion)
  const schema = errorData.UnsupportedProtocolVersion
  const { supportedVersions } = fits('data with supportedVersions', schema, data)
  check(supportedVersions.length > 0, 'at least one supported version', supportedVersions)
  return supportedVersions
}

async function offer(kit: Kit, protocolVersions: readonly string[]) {
  const client = await kit.open()
  return client.ask('initialize', { protocolVersions, clientId: client.clientId })
}

function laterPatch(version: string): string {
  const [major, minor, patch] = version.split('.').map(Number)
  return `${major}.${minor}.${Number(patch) + 986}`
}
