import { check } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { withSession } from '../kit/openings.ts'

export const handshake: Topic = {
  name: 'handshake',
  rules: [
    {
      id: 'K10',
      title: 'initialize is answered with a protocolVersion, a serverSeq and snapshots',
      source: 'initialize: the fields of its result',
      sessionless: true,
      async run(kit) {
        const client = await kit.connect()
        await client.mustSucceed('initialize', { protocolVersions: [kit.version], clientId: client.clientId })
      },
    },
    {
      id: 'K11',
      title: 'ping is answered with null at any time, even before initialize',
      source: 'ping: it needs no handshake',
      sessionless: true,
      async run(kit) {
        const client = await kit.connect()
        await client.mustSucceed('ping')
        await client.initialize()
        await client.mustSucceed('ping')
      },
    },
    {
      id: 'K12',
      title: 'every action after the handshake has a number above the serverSeq of the handshake',
      source: 'initialize: serverSeq is the current number, and numbers rise host-wide',
      run: withSession(async (session, kit) => {
        const client = await kit.connect()
        const { serverSeq = NaN } = await client.initialize()
        await client.subscribe(session)
        const echo = await client.retitle(session)
        check(echo.serverSeq > serverSeq, `a number above ${serverSeq}`, echo)
      }),
    },
    {
      id: 'K13',
      title: 'initialize accepts its optional fields: clientInfo, locale, capabilities, _meta',
      source: 'initialize: optional params',
      sessionless: true,
      async run(kit) {
        await kit.join({
          clientInfo: { name: 'conformance', version: '1.0.0', title: 'Conformance' },
          locale: 'de-CH',
          capabilities: { mcpApps: {} },
          _meta: { 'x-conformance': true },
        })
      },
    },
  ],
}
