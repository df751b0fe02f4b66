public import CassetteModel
public import CassettePlayback
internal import CassetteRedaction
public import CassetteStore
internal import CassetteTools
internal import TapeBytes
public import TapeTrust
package import TrafficRules

/// The table of all settings of a run.
///
/// A new setting is a row here, its place in `rows`, and the code that reads it from `RunSettings`. The options of the command line,
/// `wiretape.yaml`, the members of a session, `wiretape config`, the schema and the list in docs/configuration.md come from the rows.
public enum Settings {
    // MARK: Matching

    private static let modes: [RecordMode] = [.once, .newEpisodes, .all, .none]

    public static let mode = RunSetting<RecordMode>(
        "mode", .choice(modes.map(\.rawValue)), standard: .once,
        "once records if there is no cassette; new-episodes also adds what the cassette lacks; all records everything anew; none only replays. Default: once.",
        option: SettingOption("mode", also: "record-mode", in: .mode)
    ) { text in try SettingRow.choice(text, of: modes) }

    public static let match = RunSetting<[String]>(
        "match", .names(nil), standard: MatchRules.standardNames,
        "What requests are compared by, instead of method,url,body: also scheme, host, port, path, query, query-order, header:NAME, body:json and others, graphql. Comma-separated.",
        option: SettingOption("match", "rules", in: .moreRules), session: .rules, shown: { $0.joined(separator: ",") }
    ) { text in
        let names = SettingRow.names(text)
        _ = try MatchRules(match: names)
        return names
    }

    public static let presets = RunSettingList<RulePreset>(
        "presets",
        "Add the rules for a kind of API: \(RulePreset.names.joined(separator: ", ")). \"wiretape config --preset NAME\" prints them. Repeatable.",
        option: SettingOption("preset", "name", in: .rules), session: .rules, shown: { $0.rawValue }
    ) { try RulePreset($0) }

    public static let ignore = RunSettingList<String>(
        "ignore",
        "Ignore a place in the comparison: query:NAME, header:NAME, json:/POINTER, xml:/a/b, xml:/a/@c, grpc:/FIELD/FIELD, form:NAME, part:NAME, filename:NAME, body, … Repeatable.",
        option: SettingOption("ignore", "place", in: .rules), session: .rules
    ) { text in
        _ = try MatchPlace(reaching: text)
        return text
    }

    public static let patterns = RunSettingList<String>(
        "patterns",
        "Values of a place that match the expression as a whole count as equal: query:ts=[0-9]+. Repeatable.",
        option: SettingOption("pattern", "place=regex", in: .rules), session: .rules
    ) { text in
        _ = try PlacePattern(text)
        return text
    }

    public static let replace = RunSettingList<String>(
        "replace",
        "Rewrite a value on both sides before it is compared: json:/messages/*/content=/REGEX/TEXT/. $1 is a group of the expression. Repeatable.",
        option: SettingOption("replace", "place=/regex/text/", in: .moreRules), session: .rules
    ) { text in
        _ = try PlaceReplacement(text)
        return text
    }

    public static let sort = RunSettingList<String>(
        "sort", "Compare an array in JSON without the order of its elements: json:/tools. Repeatable.",
        option: SettingOption("sort", "place", in: .moreRules), session: .rules
    ) { text in
        _ = try MatchRules.sorted(text)
        return text
    }

    public static let optional = RunSettingList<String>(
        "optional",
        "A value that may be missing on either side, json:/POINTER or form:NAME. If both have it, it is compared. Repeatable.",
        option: SettingOption("optional", "place", in: .moreRules), session: .rules
    ) { text in
        _ = try MatchRules.optional(text)
        return text
    }

    /// Paths of files, or folders of files, that name the fields of gRPC messages.
    public static let descriptors = RunSettingList<String>(
        "descriptors",
        "Name the fields of gRPC messages by this file of \"protoc --include_imports --descriptor_set_out\", or a folder of such files. Repeatable.",
        option: SettingOption("descriptors", "file", in: .moreRules, completes: .file), isPath: true
    ) { $0 }

    // MARK: Secrets

    public static let redact = RunSettingList<String>(
        "redact",
        "Also remove: header:NAME, query:NAME, json:/POINTER, xml:/a/b, xml:/a/@c, grpc:/FIELD/FIELD, form:NAME, part:NAME, or one of them or text with =REGEX.",
        option: SettingOption("redact", "rule", in: .redaction), session: .top
    ) { text in
        _ = try RedactionRule(text)
        return text
    }

    public static let keep = RunSettingList<String>(
        "keep",
        "Keep what would be removed: a place as above, a kind such as jwt, jwt:CLAIM, in placeholders shape:uuid or shape:length, or one body by body:sha256:HEX.",
        option: SettingOption("keep", "place|kind", in: .redaction), session: .top
    ) { text in
        _ = try RedactionException(text)
        return text
    }

    /// Names of environment variables whose values are secrets.
    public static let secretEnv = RunSettingList<String>(
        "secretEnv", "Remove the value of an environment variable wherever it appears.",
        option: SettingOption("secret-env", "name", in: .redaction), session: .top
    ) { name in
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "=") }) else {
            throw SettingSyntaxError("\"\(name.prefix(40))\" cannot be the name of a variable; write the name alone, for example API_KEY")
        }
        return name
    }

    /// False keeps secrets in the recording. Not in files, where it would silently weaken a run.
    public static let redaction = RunSetting<Bool>(
        "redaction", .flag, standard: true, "Keep secrets in the cassette: anyone who can read it can read them.",
        option: SettingOption(negative: "no-redaction", in: .keeping), session: .top, isOfFiles: false, isShownIfUnset: false
    ) { try SettingRow.flag($0) }

    // MARK: How a replay answers

    public static let repetition = RunSetting<Repetition>(
        "repeat", standard: .never,
        "What answers once all equal exchanges are used up: nothing (never), the last one, or all again (cycle). Default: never.",
        option: SettingOption("repeat", in: .answers), session: .top)

    /// A filter expression: the exchanges that match it may answer any number of times.
    public static let repeatMatching = RunSetting<String?>(
        "repeatMatching", .text,
        "Exchanges that match this filter, such as '~u /login', may answer any number of times, whatever --repeat says.",
        option: SettingOption("repeat-matching", "expression", in: .answers), session: .top
    ) { text in
        _ = try FilterParser.parse(text, setting: "repeatMatching")
        return text
    }

    public static let order = RunSetting<ReplayOrder>(
        "order", standard: .any, "With strict, requests must come in the recorded order. Default: any.",
        option: SettingOption("order", in: .answers), session: .top)

    public static let conversation = RunSetting<ConversationOrder>(
        "conversation", standard: .strict,
        "With strict, a client's messages in a WebSocket or gRPC stream must come in the recorded order; with any, the order does not matter. Default: strict.",
        option: SettingOption("conversation", in: .answers), session: .top)

    public static let ranges = RunSetting<RangeReplay>(
        "ranges", standard: .computed,
        "With exact, only recorded ranges are answered; with computed, others are made of a whole recorded body or of its recorded parts. Default: computed.",
        option: SettingOption("ranges", in: .answers), session: .top)

    public static let latency = RunSetting<Latency>(
        "latency", .text, standard: .none,
        "How long answers take: none, recorded, ×2 or x0.5 times as long as recorded, or 250ms. Default: none.",
        option: SettingOption("latency", "pace", in: .pace), session: .top
    ) { try Latency($0) }

    public static let originErrors = RunSetting<Failure.Answer?>(
        "originErrors", .choice(Failure.Answer.allCases.map(\.rawValue)),
        "What a client gets when an origin breaks its connection or answers what is no HTTP: a page with status 502, or the same break; with break, a reset in the middle of an answer is passed on as well. Default: page, and in a replay what was recorded.",
        option: SettingOption("origin-errors", in: .proxy), session: .top
    ) { try SettingRow.choice($0, of: Failure.Answer.allCases) }

    /// In a session, also a list of the places of `refreshFields`.
    public static let refreshDates = RunSetting<Bool>(
        "refreshDates", .flag, standard: false,
        "Move Date, Expires, Last-Modified, Retry-After and the expiry of cookies by the time since the recording.",
        option: SettingOption(flag: "refresh-dates", in: .pace), session: .own
    ) { try SettingRow.flag($0) }

    public static let refreshFields = RunSettingList<String>(
        "refreshFields", "With --refresh-dates: also move the date at a place in JSON bodies, json:/POINTER. Repeatable.",
        option: SettingOption("refresh-field", "place", in: .pace)
    ) { text in
        _ = try RefreshRules([text])
        return text
    }

    public static let clock = RunSetting<ProgramClock>(
        "clock", standard: .real,
        "With recorded, the program after -- runs at the time of the recording: its clock starts where the recording starts (Linux; not programs in Go or without shared libraries). Default: real.",
        option: SettingOption("clock", "time", in: .clock))

    // MARK: Verdicts

    /// In a session, a string or a list of strings.
    public static let failOn = RunSetting<FailureRule>(
        "failOn", .names(FailureRule.names), standard: .standard,
        "What fails the run: miss (exit code 3), unused (4), order (5), unsearched (6: a recorded body could not be searched for secrets), rules (8: a traffic rule matched nothing, or could not be carried out), client (9: --verdict client found something), escapes (10: with --isolate, the program tried to get past the proxy), lint (11: an upload in the cassette is broken), comma-separated; or none. Default: miss, and with strict order also order. A replay without any request (4) and a damaged cassette (1) fail it, too, except with none.",
        option: SettingOption("fail-on", "flaws", in: .failures), session: .top
    ) { try FailureRule(names: SettingRow.names($0)) }

    public static let maxAge = RunSetting<Age?>(
        "maxAge", .shaped("^[0-9]+[smhdw]$"), "Maximum age of the oldest exchange in the cassette: a number followed by s, m, h, d or w.",
        option: SettingOption("max-age", "duration", in: .answers), session: .top
    ) { try Age($0) }

    public static let onExpired = RunSetting<ExpiryPolicy>(
        "onExpired", standard: .warn, "What happens to an older cassette: warn, fail (exit code 7), or rerecord. Default: warn.",
        option: SettingOption("on-expired", in: .answers), session: .top)

    // MARK: Recording

    public static let keepOnFailure = RunSetting<Bool>(
        "keepOnFailure", .flag, standard: true,
        "Keep the old cassette if the command fails, with the recording beside it. Default: --keep-on-failure.",
        option: SettingOption(flag: "keep-on-failure", in: .keeping)
    ) { try SettingRow.flag($0) }

    public static let review = RunSetting<Bool>(
        "review", .flag, standard: false, "Show what a recording changes, and ask before it replaces the old cassette.",
        option: SettingOption(flag: "review", in: .recording)
    ) { try SettingRow.flag($0) }

    public static let durability = RunSetting<ProxyConfiguration.Durability>(
        "durability", standard: .normal,
        "\"normal\" syncs to disk at least every second, \"full\" before each answer ends. Default: normal.",
        option: SettingOption("durability", in: .keeping))

    public static let onDiskFull = RunSetting<ProxyConfiguration.DiskFullPolicy>(
        "onDiskFull", standard: .pass,
        "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507. Default: pass.",
        option: SettingOption("on-disk-full", in: .keeping))

    public static let maxExchanges = RunSetting<Int?>(
        "maxExchanges", .number(1...1_000_000_000),
        "Record at most this many exchanges; later ones are forwarded unrecorded, and counted.",
        option: SettingOption("max-exchanges", "number", in: .keeping), session: .top
    ) { try SettingRow.number($0, in: 1...1_000_000_000, "a number of exchanges") }

    // MARK: Changing the traffic

    /// Rules that change the traffic. Each source has a reader of its own for them.
    package static let modify = RunSettingList<RuleList>(
        "modify", "Traffic rules, in their order: docs/traffic-rules.md.", session: .own, shown: { $0.file }, read: nil)

    /// Judges what the client does with answers that failed, by these limits; nil does not. Each source has a reader of its own for it.
    package static let verdict = RunSetting<ClientVerdict.Limits?>(
        "verdict", .other, "Judge what the client does with answers that failed: client, or an object with limits.", session: .own,
        shown: { _ in "client" }, read: nil)

    /// Of the draws of traffic rules.
    public static let seed = RunSetting<UInt64>(
        "seed", .number(0...UInt64.max), standard: 0, "The seed of the draws of these rules. Default: 0.",
        option: SettingOption("seed", "number", in: .modify), session: .top, isShownIfUnset: false
    ) { text in
        guard let seed = UInt64(text), text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
            throw SettingSyntaxError("\"\(text)\" is not a seed; write a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    // MARK: The proxy

    public static let listen = RunSetting<ListenAddress>(
        "listen", .text, standard: ListenAddress(host: "127.0.0.1", port: 0),
        "Address to listen on; port 0 picks a free one. An address other than loopback needs --allow-remote. Default: 127.0.0.1:0.",
        option: SettingOption("listen", "host:port", in: .listening)
    ) { text in
        guard let address = ListenAddress(argument: text) else {
            throw SettingSyntaxError("\"\(text)\" is not an address to listen on; write HOST:PORT, for example \"127.0.0.1:7070\"")
        }
        return address
    }

    /// Seconds.
    public static let grace = RunSetting<Int>(
        "grace", .number(0...3600), standard: 5, "Seconds to wait for exchanges in flight when stopping. Default: 5.",
        option: SettingOption("grace", "seconds", in: .proxy)
    ) { text in
        try SettingRow.number(text, in: 0...3600, "a number of seconds")
    }

    public static let passthrough = RunSettingList<HostPattern>(
        "passthrough", "Let CONNECT tunnels to these hosts pass unopened and unrecorded. Repeatable."
    ) { try HostPattern($0) }

    public static let refuse = RunSettingList<HostPattern>(
        "refuse", "Answer CONNECT to these hosts with 403. Repeatable."
    ) { try HostPattern($0) }

    /// Paths of PEM files.
    public static let upstreamCA = RunSettingList<String>(
        "upstreamCA", "Trust the authorities in this PEM file in addition to the system's. Repeatable.", isPath: true
    ) { $0 }

    public static let insecureUpstream = RunSettingList<HostPattern>(
        "insecureUpstream", "Do not check the certificates of these hosts. Repeatable."
    ) { try HostPattern($0) }

    // MARK: The store

    /// The address of the store for pointers.
    public static let store = RunSetting<String?>(
        "store", .shaped("^(s3|https?)://"),
        "The store: s3://BUCKET/PREFIX, or https://HOST/FOLDER to read only. Default: \"store\" of wiretape.yaml.",
        option: SettingOption("store", "address", in: .store)
    ) { $0 }

    /// The store's server, if it is not AWS.
    public static let endpoint = RunSetting<String?>(
        "endpoint", .shaped("^https?://"),
        "The server: https://HOST[:PORT]. Default: \"endpoint\" of wiretape.yaml, AWS_ENDPOINT_URL, or AWS.",
        option: SettingOption("endpoint", "url", in: .store)
    ) { $0 }

    public static let region = RunSetting<String?>(
        "region", .text, "The bucket's region. Default: \"region\" of wiretape.yaml, AWS_REGION, or us-east-1.",
        option: SettingOption("region", "name", in: .store)
    ) { $0 }

    public static let pathStyle = RunSetting<Bool?>(
        "pathStyle", .flag, "Whether the bucket is in the path, not in the host's name. Default: with an endpoint.",
        option: SettingOption(flag: "path-style", in: .store)
    ) { try SettingRow.flag($0) }

    /// Whether commands fetch a cassette from the store that the cache does not have.
    public static let fetch = RunSetting<Bool?>(
        "fetch", .flag, "Whether commands fetch a cassette that a pointer names, if the cache does not have it."
    ) { try SettingRow.flag($0) }

    // MARK: All of them

    /// In the order in which they are shown.
    public static let rows: [SettingRow] = [
        mode.row, match.row, presets.row, ignore.row, patterns.row, replace.row, sort.row, optional.row, descriptors.row, redact.row,
        keep.row, secretEnv.row, redaction.row, repetition.row, repeatMatching.row, order.row, conversation.row, ranges.row, latency.row,
        originErrors.row, refreshDates.row, refreshFields.row, clock.row, failOn.row, maxAge.row, onExpired.row, keepOnFailure.row,
        review.row,
        durability.row, onDiskFull.row, maxExchanges.row, modify.row, verdict.row, seed.row, listen.row, grace.row, passthrough.row,
        refuse.row,
        upstreamCA.row, insecureUpstream.row, store.row, endpoint.row, region.row, pathStyle.row, fetch.row,
    ]
}
