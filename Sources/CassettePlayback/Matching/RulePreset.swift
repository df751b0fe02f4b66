/// Rules for the requests of a kind of API, under one name.
///
/// Only spells out rules: whoever uses a preset compares by these texts, and they are what a cassette's head gets.
public enum RulePreset: String, Sendable, Hashable, CaseIterable {
    case openAI = "openai"
    case anthropic, gemini, bedrock
    case awsSigV4 = "aws-sigv4"
    case awsPresigned = "aws-presigned"
    case mcp
    case jsonRPC = "json-rpc"
    case graphQL = "graphql"
    case oauth

    /// The names of all presets, in the order of the documentation.
    public static let names = Self.allCases.map(\.rawValue)

    public init(_ name: String) throws(MatchRuleError) {
        guard name != "auto" else {
            throw MatchRuleError(
                .unknownRule,
                "\"auto\" applies no rules: run \"wiretape suggest FILE\" for the presets that fit a recording and what their rules make equal, and name one"
            )
        }
        guard let preset = Self(rawValue: name) else {
            throw MatchRuleError(
                .unknownRule,
                "\"\(name.prefix(40))\" is not a preset; write \(Self.names.dropLast().joined(separator: ", ")) or \(Self.names.last ?? "")"
            )
        }
        self = preset
    }

    /// What differs from run to run.
    public var summary: String {
        switch self {
        case .openAI: "OpenAI's chat completions and responses: ids of calls, today's date in prompts, the order of tools"
        case .anthropic: "Anthropic's messages: ids of tool uses, today's date in prompts, the order of tools"
        case .gemini: "Gemini's generateContent: ids of calls, today's date in prompts, the order of declared functions"
        case .bedrock: "Bedrock's Converse: ids of tool uses, today's date in prompts, the order of tools, signatures"
        case .awsSigV4: "requests signed in their header: dates and ids of attempts"
        case .awsPresigned: "URLs that are signed in their query: dates, credentials and signatures"
        case .mcp: "the Model Context Protocol: ids of calls, also of cancelled ones, progress tokens, ids of sessions"
        case .jsonRPC: "JSON-RPC 2.0: ids of calls, also in batches"
        case .graphQL: "GraphQL: operations are compared by their names and variables"
        case .oauth: "OAuth 2.0 and OpenID Connect: states, nonces, proofs and challenges"
        }
    }

    public var rules: MatchRuleTexts {
        switch self {
        case .openAI:
            MatchRuleTexts(
                ignore: ["json:/prompt_cache_key", "json:/safety_identifier", "json:/user"],
                patterns: [
                    "json:/messages/*/tool_calls/*/id=\(Self.callID)", "json:/messages/*/tool_call_id=\(Self.callID)",
                    "json:/input/*/call_id=\(Self.callID)", "json:/input/*/id=(msg|fc|rs|ctc)_[A-Za-z0-9_-]+",
                ],
                replace: Self.dates(in: [
                    "json:/messages/*/content", "json:/messages/*/content/*/text", "json:/instructions", "json:/input",
                    "json:/input/*/content", "json:/input/*/content/*/text",
                ]),
                sort: ["json:/tools", "json:/tools/**/required"])
        case .anthropic:
            MatchRuleTexts(
                ignore: ["json:/metadata/user_id"],
                patterns: [
                    "json:/messages/*/content/*/id=\(Self.callID)",
                    "json:/messages/*/content/*/tool_use_id=\(Self.callID)",
                ],
                replace: Self.dates(in: [
                    "json:/system", "json:/system/*/text", "json:/messages/*/content", "json:/messages/*/content/*/text",
                ]),
                sort: ["json:/tools", "json:/tools/*/input_schema/**/required"])
        case .gemini:
            MatchRuleTexts(
                ignore: [
                    "json:/contents/*/parts/*/functionCall/id", "json:/contents/*/parts/*/functionResponse/id",
                ],
                replace: Self.dates(in: ["json:/systemInstruction/parts/*/text", "json:/contents/*/parts/*/text"]),
                sort: [
                    "json:/tools", "json:/tools/*/functionDeclarations", "json:/tools/*/functionDeclarations/**/required",
                ])
        case .bedrock:
            MatchRuleTexts(
                patterns: [
                    "json:/messages/*/content/*/toolUse/toolUseId=\(Self.callID)",
                    "json:/messages/*/content/*/toolResult/toolUseId=\(Self.callID)",
                ],
                replace: Self.dates(in: ["json:/system/*/text", "json:/messages/*/content/*/text"]),
                sort: ["json:/toolConfig/tools", "json:/toolConfig/tools/*/toolSpec/inputSchema/json/**/required"]
            ).adding(Self.awsSigV4.rules)
        case .awsSigV4:
            MatchRuleTexts(ignore: ["header:x-amz-date", "header:amz-sdk-invocation-id", "header:amz-sdk-request"])
        case .awsPresigned:
            MatchRuleTexts(
                ignore: ["query:X-Amz-Credential", "query:X-Amz-Security-Token", "query:X-Amz-Signature"],
                patterns: ["query:X-Amz-Date=[0-9]{8}T[0-9]{6}Z"])
        case .mcp:
            MatchRuleTexts(
                ignore: [
                    "header:mcp-session-id", "json:/[jsonrpc=2.0]/params/_meta/progressToken",
                    "json:/[jsonrpc=2.0]/params/progressToken", "json:/[jsonrpc=2.0]/params/requestId",
                ]
            ).adding(Self.jsonRPC.rules)
        case .jsonRPC: MatchRuleTexts(ignore: ["json:/[jsonrpc=2.0]/id", "json:/[jsonrpc=1.0]/id"])
        case .graphQL: MatchRuleTexts(match: ["method", "url", "graphql"])
        case .oauth:
            MatchRuleTexts(
                ignore: [
                    "query:code_challenge", "form:code_verifier", "form:code_challenge", "form:client_assertion", "header:dpop",
                ],
                patterns: ["query:state", "query:nonce", "form:state", "form:nonce"].map { "\($0)=\(Self.random)" })
        }
    }

    /// A date that a prompt gives as today's. Any other date in a prompt may be what it asks about.
    private static let today =
        #"(?i)(\b(?:today|today's date|current date|current time|current datetime|current date and time|now)(?: is|:| is:|=| =) *)(?:[a-z]+day,? +)?"#
        + #"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?:z|utc|[+-][0-9]{2}:?[0-9]{2}))?)?"#
        + #"|[a-z]{3,9}\.? [0-9]{1,2}, [0-9]{4}|[0-9]{1,2} [a-z]{3,9} [0-9]{4})"#

    /// A value that a client draws for one request. A word is none: other interfaces have a `state` such as `closed`.
    private static let random = "[!-~]{0,7}[0-9][!-~]{8,}|[!-~]{8,}[0-9][!-~]*|[!-~]{24,}"

    /// The id of a call. Libraries that speak to several models send the ids of one to another, and make their own for those that give none.
    private static let callID = "((call|chatcmpl-tool|(srv)?toolu|tooluse|pyd_ai)[_-][A-Za-z0-9_-]+|[A-Za-z0-9]{9})"

    private static func dates(in places: [String]) -> [String] { places.map { "\($0)=/\(Self.today)/$1TODAY/" } }
}
