import type {
  AgentCustomization,
  CustomizationLoad,
  HookCustomization,
  McpServerCustomization,
  PromptCustomization,
  RuleCustomization,
  SkillCustomization,
} from '@atrium/protocol/session/customization'
import type { LimitValues } from '@atrium/protocol/limits'
import type { FormatName } from './formats.ts'
import type { Hook } from './hooks.ts'
import type { ServerConfig } from './servers.ts'

/** A plugin as far as it could be read. What could not be read is in `problems`, and does not keep the rest from working. */
export interface LoadedPlugin extends LoadedParts {
  readonly format: FormatName
  readonly name: string
  readonly version?: string
  readonly description?: string
}

/** The components of a plugin or of a customization folder. */
export interface LoadedParts {
  readonly load: CustomizationLoad
  readonly components: readonly Component[]
  readonly problems: readonly Problem[]
}

/**
 * A part of a plugin that cannot be used, or can be used only in part. The path is relative to the plugin; the message is a
 * sentence.
 */
export interface Problem {
  readonly path: string
  readonly message: string
}

/** A component: the customization that clients see, and the content that agents get. */
export type Component =
  | MarkdownComponent<'skill', SkillCustomization>
  | MarkdownComponent<'agent', AgentCustomization>
  | PromptComponent
  | MarkdownComponent<'rule', RuleCustomization>
  | HookComponent
  | ServerComponent

export type ComponentKind = Component['kind']

export interface MarkdownComponent<K, C> {
  readonly kind: K
  readonly child: C
  /** The path of the file, relative to the plugin. */
  readonly path: string
  /** The text of the file without its frontmatter. */
  readonly text: string
}

export interface PromptComponent extends MarkdownComponent<'prompt', PromptCustomization> {
  /** A hint for people: what the user may type after the command. */
  readonly argumentHint?: string
  readonly disableModelInvocation?: boolean
}

/** All hooks of one file. */
export interface HookComponent {
  readonly kind: 'hook'
  readonly child: HookCustomization
  readonly path: string
  readonly hooks: readonly Hook[]
}

export interface ServerComponent {
  readonly kind: 'mcpServer'
  readonly child: McpServerCustomization
  readonly path: string
  readonly server: ServerConfig
}

export type PluginLimits = Pick<
  LimitValues,
  | 'pluginComponents'
  | 'pluginFileBytes'
  | 'pluginBytes'
  | 'pluginFiles'
  | 'frontmatterLength'
  | 'componentName'
  | 'descriptionLength'
  | 'globs'
  | 'entries'
  | 'depth'
  | 'keys'
>
