import type { AgentSettings } from '@atrium/adapters/acp/registry'
import type { ServerSettings } from '@atrium/adapters/acp/mcp-servers'
import type { ModelsConfig } from '@atrium/adapters/model/config'
import { clusterFields } from './cluster-fields.ts'
import type { ClusterSettings } from './cluster-fields.ts'
import { isAgents, isCaptures, isModels, isNotifications, isProcesses, isServers } from './config-schema.ts'
import { json, list, path, text, yesNo } from './field.ts'
import type { Field } from './field.ts'

export type { Field }

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The settings of `atrium serve`. The default of an absent key is applied where the key is used. */
export interface Settings extends ClusterSettings {
  readonly host?: string
  /** Absent: the last used port, else the default port, else any free port. */
  readonly port?: number
  readonly socket?: string
  readonly data: string
  /** The folder in which clients start to browse. Absent: the user's home. */
  readonly defaultDirectory?: string
  readonly connectionToken?: string
  readonly connectionTokenFile?: string
  readonly withoutConnectionToken?: boolean
  readonly allowOrigin?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly logLevel?: LogLevel
  readonly readOnly?: boolean
  /** False: the host serves no web page. */
  readonly web?: boolean
  /** Agent programs by name, in addition to those on the PATH. */
  readonly agents?: AgentSettings
  /** The model providers of the built-in model agent. */
  readonly models?: ModelsConfig
  /** MCP servers by name, for sessions with ACP agents. */
  readonly mcpServers?: ServerSettings
  /** How many idle processes of agents are kept, and for how long. */
  readonly agentProcesses?: ProcessSettings
  /** What is kept of the files that turns change. False: nothing, so that no change can be shown or undone. */
  readonly captures?: CaptureSettings | false
  /** Where notifications may go, and whom push services may ask about them. */
  readonly notifications?: NotificationSettings
}

export interface ProcessSettings {
  readonly idleMinutes?: number
  readonly maxIdle?: number
}

export interface NotificationSettings {
  /** Origins that may use http, and need not be public, such as `http://127.0.0.1:8080`. */
  readonly allow?: readonly string[]
  readonly contact?: string
}

export interface CaptureSettings {
  /** The most MiB that are kept for one session. */
  readonly sessionMb?: number
  /** The most MiB that are kept for all sessions together. */
  readonly allMb?: number
}

const agentsWanted =
  'an object that maps the name of each agent (not atrium or guide) to command, and optionally args, env, displayName, variables, memoryMb, turnMinutes, disabled, actsWithoutAsking'

const modelsWanted =
  'an object with anthropic and openai (false, or baseUrl and models), compatible (by name: baseUrl, apiKeyVariable, models) and default; a baseUrl begins with http:// or https:// and has no password, query or fragment in it'

const serversWanted =
  'an object that maps the name of each MCP server to command, and optionally args and env; or to a url that begins with http:// or https://, and optionally type (http or sse), headers and oauthClient (clientId, and optionally clientSecret)'

const processesWanted =
  'an object with idleMinutes, a positive number, and maxIdle, a number of processes from 0'

const notificationsWanted =
  'an object with allow, a list of origins like http://127.0.0.1:8080, and contact, an address that begins with mailto: or https://'

const capturesWanted = 'false, or an object with sessionMb and allMb, which are positive numbers'

export const fields: { readonly [K in keyof Required<Settings>]: Field } = {
  host: text(
    {
      flag: '--host',
      variable: 'ATRIUM_HOST',
      about: 'The address to listen on. Default: this machine only.',
    },
    'an address of this machine',
  ),
  port: {
    ...text(
      {
        flag: '--port',
        variable: 'ATRIUM_PORT',
        about: 'The port; 0 is any free port. Default: the last one, else 7433, else any free port.',
      },
      'a port from 0 to 65535',
    ),
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535,
    parse: (value) => (/^\d{1,5}$/.test(value) ? Number(value) : value),
  },
  socket: path({
    flag: '--socket',
    variable: 'ATRIUM_SOCKET',
    about: 'A unix socket to listen on, in place of a port.',
  }),
  data: path({
    flag: '--data',
    variable: 'ATRIUM_HOME',
    about: 'The data folder. Default: `~/.local/share/atrium`.',
  }),
  ...clusterFields,
  defaultDirectory: path({
    flag: '--default-directory',
    variable: 'ATRIUM_DEFAULT_DIRECTORY',
    about: 'The folder in which clients start to browse. Default: your home.',
  }),
  connectionToken: {
    ...text(
      {
        flag: '--connection-token',
        variable: 'ATRIUM_TOKEN',
        about: 'The token. Prefer a file: other users can see the arguments of a program.',
      },
      "16 to 512 letters, digits, '-' and '_'",
    ),
    accepts: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{16,512}$/.test(value),
  },
  connectionTokenFile: path({
    flag: '--connection-token-file',
    variable: 'ATRIUM_TOKEN_FILE',
    about: 'A file with the token. Default: `token` in the data folder, which the host creates.',
  }),
  withoutConnectionToken: yesNo({
    flag: '--without-connection-token',
    variable: 'ATRIUM_WITHOUT_TOKEN',
    about: 'Require no token. Only possible if no other machine can reach the host.',
  }),
  allowOrigin: list(
    {
      flag: '--allow-origin',
      variable: 'ATRIUM_ALLOW_ORIGIN',
      about: 'Let web pages of these origins connect, if they have the token. Default: none.',
    },
    'origins like https://name:port',
  ),
  allowHost: {
    ...list(
      {
        flag: '--allow-host',
        variable: 'ATRIUM_ALLOW_HOST',
        about: 'Accept these `Host` headers, too: the names under which a proxy is reached.',
      },
      'names like atrium.example or atrium.example:443',
    ),
    accepts: (value) => Array.isArray(value) && value.every((one) => /^[a-z0-9.[\]:-]+$/.test(String(one))),
  },
  tlsCert: path({ flag: '--tls-cert', variable: 'ATRIUM_TLS_CERT', about: 'The certificate, as PEM.' }),
  tlsKey: path({
    flag: '--tls-key',
    variable: 'ATRIUM_TLS_KEY',
    about: 'The key of the certificate, as PEM.',
  }),
  logLevel: {
    ...text(
      {
        flag: '--log-level',
        variable: 'ATRIUM_LOG_LEVEL',
        about: 'What the host writes to stderr. Default: `warn` at a terminal, else `info`.',
      },
      `one of ${logLevels.join(', ')}`,
    ),
    accepts: (value) => logLevels.some((level) => level === value),
  },
  readOnly: yesNo({
    flag: '--read-only',
    variable: 'ATRIUM_READ_ONLY',
    about: 'Change nothing on the disk. Sessions can only be read.',
  }),
  web: yesNo({
    flag: '--no-web',
    variable: 'ATRIUM_WEB',
    about: 'Whether the host serves its web page. Default: true.',
  }),
  agents: json(
    {
      variable: 'ATRIUM_AGENTS',
      about: 'Agents beside those on the PATH, or other settings for these.',
    },
    agentsWanted,
    isAgents,
  ),
  models: json(
    {
      variable: 'ATRIUM_MODELS',
      about: 'The model providers of the built-in agent `atrium`.',
    },
    modelsWanted,
    isModels,
  ),
  mcpServers: json(
    {
      variable: 'ATRIUM_MCP_SERVERS',
      about: 'MCP servers for all sessions.',
    },
    serversWanted,
    isServers,
  ),
  agentProcesses: json(
    {
      variable: 'ATRIUM_AGENT_PROCESSES',
      about:
        'When idle processes of agents that can restore their sessions are ended: after 5 minutes, or if there are more than 4 of all agents.',
    },
    processesWanted,
    isProcesses,
  ),
  captures: json(
    {
      variable: 'ATRIUM_CAPTURES',
      about:
        'How much is kept of the files that turns change, in MiB. With `false`, no change can be undone.',
    },
    capturesWanted,
    isCaptures,
  ),
  notifications: json(
    {
      variable: 'ATRIUM_NOTIFICATIONS',
      about:
        'Origins that may be notified although they are not public, and the contact that push services are told.',
    },
    notificationsWanted,
    isNotifications,
  ),
}
