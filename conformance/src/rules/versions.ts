import { errorData } from '@atrium/protocol/error-data'
import { errorCodes } from '@atrium/protocol/errors'
import { Failed, Skipped, check, checkShape, same, excerpt } from '../kit/check.ts'
import { errorOf } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'

/** A version far in the future. */
const futureVersion = '987.0.0'

const malformed = ['1.0', 'v1.0.0', '01.0.0', '1.0.0-beta', '1.0.0+build', '^1.0.0', 'one', '']

export const versions: Topic = {
  name: 'versions',
  everyVersion: true,
  sessionless: true,
  rules: [
    {
      id: 'K20',
      title: 'the protocolVersion in the result is one of the offered strings, character by character',
      source: 'version negotiation: the host selects from the offer',
      async run(kit) {
        same('the version', kit.version, await selected(kit, [futureVersion, kit.version]))
      },
    },
    {
      id: 'K21',
      title: 'the host selects the highest version that both sides support, in any order of the offer',
      source: 'version negotiation since 1.0: the order of the offer has no meaning',
      since: '1.0.0',
      async run(kit) {
        const later = laterPatch(kit.version)
        if (!(await accepts(kit, later)))
          throw new Skipped(kit.facts.versionRefused ?? `the host refuses ${later}: see K22`)
        same('the version for a rising offer', later, await selected(kit, [kit.version, later]))
        same('the version for a falling offer', later, await selected(kit, [later, kit.version]))
      },
    },
    {
      id: 'K22',
      title: 'a later patch of a supported version is accepted, and the result repeats it as offered',
      source: 'version negotiation: compatibility follows the caret rule',
      since: '0.9.0',
      async run(kit) {
        await selected(kit, [kit.version])
        const later = laterPatch(kit.version)
        same('the version', later, await selected(kit, [later]))
      },
    },
    {
      id: 'K23',
      title: 'without a common version the error is -32005 and its data has supportedVersions',
      source: 'errors: the data of UnsupportedProtocolVersion since 0.9',
      since: '0.9.0',
      async run(kit) {
        await supportedVersionsOf(await kit.connect())
      },
    },
    {
      id: 'K24',
      title: 'without a common version the host closes the connection',
      source: 'version negotiation: a refusal ends the connection',
      async run(kit) {
        const client = await kit.connect()
        const answer = await client.request('initialize', {
          protocolVersions: [futureVersion],
          clientId: client.clientId,
        })
        errorOf('initialize', answer, [])
        await client.until('the host to close the link', () => client.closed)
      },
    },
    {
      id: 'K25',
      title: 'an offered version that is not MAJOR.MINOR.PATCH is an error',
      source: 'version negotiation: the format of a version string',
      async run(kit) {
        for (const version of malformed) await refusedOffer(kit, [version])
      },
    },
    {
      id: 'K26',
      title: 'an empty list of offered versions is an error',
      source: 'version negotiation: the host can select only an offered version',
      async run(kit) {
        await refusedOffer(kit, [])
      },
    },
    {
      id: 'K27',
      title: 'every version that a refusal lists is accepted when it is offered',
      source: 'errors: supportedVersions lists the versions to retry with',
      since: '0.9.0',
      async run(kit) {
        const supported = await supportedVersionsOf(await kit.connect())
        // An entry may also be a range of versions. Only exact versions are tried here.
        const exact = supported.filter((entry) => /^\d+\.\d+\.\d+$/.test(entry))
        if (exact.length === 0)
          throw new Skipped(`supportedVersions has no exact version: ${excerpt(supported)}`)
        for (const version of exact) same('the version', version, await selected(kit, [version]))
      },
    },
  ],
}

/**
 * The version that the host selects from these offers on a new connection. Skips the rule if the host refuses the
 * version under test.
 */
async function selected(kit: Kit, protocolVersions: readonly string[]): Promise<string> {
  const answer = await initialize(kit, protocolVersions)
  const { versionRefused } = kit.facts
  if (versionRefused !== undefined && protocolVersions.includes(kit.version))
    throw new Skipped(versionRefused)
  if ('error' in answer)
    throw new Failed(`a result of initialize with ${excerpt(protocolVersions)}`, excerpt(answer.error))
  return String((answer.result as { readonly protocolVersion?: unknown } | null)?.protocolVersion)
}

async function accepts(kit: Kit, version: string): Promise<boolean> {
  return 'result' in (await initialize(kit, [version]))
}

async function refusedOffer(kit: Kit, protocolVersions: readonly string[]): Promise<void> {
  errorOf(`initialize with ${excerpt(protocolVersions)}`, await initialize(kit, protocolVersions), [])
}

async function supportedVersionsOf(client: Client): Promise<readonly string[]> {
  const params = { protocolVersions: [futureVersion], clientId: client.clientId }
  const { data } = await client.mustFail('initialize', params, errorCodes.UnsupportedProtocolVersion)
  const schema = errorData.UnsupportedProtocolVersion
  const { supportedVersions } = checkShape('data with supportedVersions', schema, data)
  check(supportedVersions.length > 0, 'at least one supported version', supportedVersions)
  return supportedVersions
}

async function initialize(kit: Kit, protocolVersions: readonly string[]) {
  const client = await kit.connect()
  return client.request('initialize', { protocolVersions, clientId: client.clientId })
}

function laterPatch(version: string): string {
  const [major, minor, patch] = version.split('.').map(Number)
  return `${major}.${minor}.${Number(patch) + 986}`
}
