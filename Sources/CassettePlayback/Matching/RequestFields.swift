internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The names of request header fields, classified by their role in the choice between recorded requests that are otherwise equal.
///
/// Classifies names only; `RequestProfile` holds values, and `FieldChoice` decides.
enum RequestFieldNames {
    enum Role: Sendable, Hashable {
        /// The field selects an operation or a representation. It is compared if the recording shows that it makes a difference.
        case selecting
        /// The field is compared only if a recorded `Vary` names it and the recording shows that it makes a difference.
        case other
        /// The value changes with each run, or describes the client rather than the request. A difference never causes a miss.
        case neverDecides
        /// The field describes the connection or the framing, and is ignored.
        case ignored
    }

    /// Fields that name the operation, as the method does. They are always compared, since the answer belongs to one operation.
    static let operations = DecidingFields.operations.map(\.description)

    /// Preconditions and ranges (RFC 9110, 13.1 and 14.2), which decide between the statuses 200, 206, 304, 412 and 416.
    static let conditions = DecidingFields.conditions.map(\.description)

    static func conditions(in headers: HeaderFields) -> Set<String> {
        Set(zip(DecidingFields.conditions, self.conditions).filter { headers.contains($0.0) }.map(\.1))
    }

    /// A hash of all compared header fields. Fields that change with each request or describe the client are left out.
    static func comparedFields(_ headers: HeaderFields) -> UInt64 {
        var sum: UInt64 = 0
        for index in 0..<headers.count {
            let name = headers.name(at: index).lowercased()
            switch self.role(of: name) {
            case .neverDecides, .ignored: continue
            case .selecting, .other: break
            }
            var hasher = Hasher()
            hasher.combine(name)
            headers.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[headers.valueRange(at: index)])) }
            sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return sum
    }

    /// - Parameter name: in lower case.
    static func role(of name: String) -> Role {
        if let known = self.known[name] { return known }
        if name.hasPrefix("x-b3-") || name.hasPrefix("x-datadog-") || name.hasPrefix("sec-ch-") || name.hasPrefix("x-amzn-trace") {
            return .neverDecides
        }
        if name.hasPrefix("hx-") || name.hasPrefix("x-inertia") || name.hasPrefix("next-router-") || name.hasPrefix("x-amz-copy-source")
            || name.hasPrefix("x-ms-copy-source") || name.hasPrefix("x-goog-copy-source") || name.hasPrefix("x-goog-upload-")
            || name.hasPrefix("x-ms-meta-")
        {
            return .selecting
        }
        let words = name.split(separator: "-").map(String.init)
        guard let last = words.last else { return .other }
        if self.selectingEndings.contains(last) || last == "version" && words.contains("api") { return .selecting }
        if self.freshEndings.contains(last) || last == "id" && words.contains(where: self.freshIDs.contains) { return .neverDecides }
        return .other
    }

    private static let known: [String: Role] = {
        var roles: [String: Role] = [:]
        for name in Self.conditions + Self.operations + Self.selecting { roles[name] = .selecting }
        for name in Self.neverDecides { roles[name] = .neverDecides }
        for name in ConnectionFields.names { roles[name] = .ignored }
        return roles
    }()

    private static let selecting = [
        // Representations (RFC 9110, 12.5; RFC 7089; RFC 7240).
        "accept", "accept-charset", "accept-language", "accept-datetime", "accept-features", "accept-profile", "accept-version",
        "content-type", "content-encoding", "content-language", "content-location", "content-profile", "prefer",
        "range-unit", "want-digest", "want-content-digest", "want-repr-digest", "icy-metadata", "timezone", "time-zone", "x-timezone",
        "dpr", "width", "viewport-width", "content-dpr", "device-memory", "x-country", "x-country-code", "x-region",
        "x-currency", "accept-currency", "x-consul-index",
        // Operations.
        "x-method", "action", "x-github-event", "x-gitlab-event", "x-event-key", "ce-type", "ce-source", "a-im", "negotiate",
        "x-parse-revocable-session",
        "brief", "nats-msg",
        // WebDAV, DeltaV and Subversion (RFC 4918, 10; RFC 3253).
        "if", "label", "lock-token", "overwrite", "translate", "apply-to-redirect-ref", "x-svn-vr-base",
        "x-svn-options", "x-svn-base", "git-protocol",
        // Uploads in pieces (tus 1.0; draft-ietf-httpbis-resumable-upload).
        "upload-length", "upload-metadata", "upload-concat", "upload-complete", "upload-incomplete", "x-chunk-index", "x-chunk-number",
        "x-part-number", "x-file-name", "x-filename", "file-name",
        "slug", "content-disposition", "x-upload-content-range", "x-upload-content-type", "x-upload-content-length",
        // Partial pages.
        "turbo-frame", "rsc", "x-pjax", "x-pjax-container", "x-requested-with", "purpose", "sec-purpose",
        // Versions and expansions of APIs.
        "x-ms-blob-type", "x-ms-version", "stripe-version", "notion-version", "x-github-media-type",
        "anthropic-version", "anthropic-beta", "openai-beta", "connect-protocol-version", "last-event-id", "consistencylevel",
        "odata-version", "odata-maxversion", "api-version", "x-api-version", "x-github-api-version", "x-version", "x-graphql-features",
        // Owners of data.
        "x-tenant-id", "x-tenant", "tenant-id", "x-project-id", "project-id", "x-org-id", "x-organization-id", "x-organisation-id",
        "openai-organization", "openai-project", "x-workspace-id", "x-account-id", "stripe-account", "x-shopify-shop",
        "x-shopify-shop-domain", "x-parse-application-id", "x-goog-user-project", "x-amz-expected-bucket-owner", "x-database",
        "x-namespace",
        "nomad-namespace", "x-user-id", "impersonate-uid", "x-remote-group", "x-forwarded-host", "x-device", "x-ms-lease-id",
        "x-ms-source-lease-id", "x-hasura-role", "x-hasura-user-id", "dropbox-api-select-user",
        "dropbox-api-select-admin", "x-site", "x-ms-documentdb-partitionkey", "x-clickhouse-database", "x-presto-catalog",
        "x-trino-catalog",
        "x-influxdb-org", "x-original-url", "x-rewrite-url",
        // Pagination.
        "x-ms-continuation", "x-continuation-token", "x-ms-max-item-count", "x-plex-container-start", "x-plex-container-size", "x-limit",
        // Names of procedures.
        "x-rpc", "rpc-name", "x-rpc-name", "x-service", "x-function", "x-command", "x-shopify-topic", "x-ms-write",
        "x-vault-namespace", "x-scope-orgid", "x-store-id", "x-site-id", "x-account", "cloudfront-viewer-country",
        // Options of storage, of protocols and of APIs.
        "x-amz-tagging", "x-amz-request-payer", "x-ms-page-write", "x-ms-rename-source", "x-ms-access-tier", "x-ms-documentdb-isquery",
        "x-copy-from", "link", "dropbox-api-path-root", "x-wopi-lock", "x-wopi-oldlock", "x-wopi-suggestedtarget", "x-trino-session",
        "x-vault-wrap-ttl", "mcp-protocol-version", "linkedin-version", "square-version", "intercom-version", "x-restli-protocol-version",
        "position", "ordering-type", "aeg-event-type", "x-amz-sns-message-type", "x-goog-resource-state", "sforce-query-options",
        "x-dry-run", "dry-run", "x-output", "x-env", "x-stage", "x-key-name", "x-object", "x-resource", "x-consistency",
        "transfermode.dlna.org", "timeseekrange.dlna.org",
    ]

    /// The last words of the names of further selecting fields.
    private static let selectingEndings: Set<String> = [
        "action", "target", "operation", "method", "override", "language", "locale", "format", "offset", "range", "profile", "tenant",
        "schema", "view", "projection", "fields", "fieldmask", "page", "cursor", "part", "chunk", "variant", "representation",
        "currency", "country", "region", "timezone", "workspace", "organization", "event", "index", "namespace", "database", "catalog",
        "continuation", "limit", "role", "topic", "command", "function", "attributes", "user", "group", "project", "environment", "store",
        "channel", "feature", "acl", "mode", "sort", "filter", "query", "path", "bucket", "type", "step", "sequence",
    ]

    /// The last words of the names of fields whose values change with each request.
    private static let freshEndings: Set<String> = [
        "date", "time", "timestamp", "nonce", "signature", "token", "trace", "traceid", "span", "requestid", "attempt",
    ]
    /// The words before "id" in the names of such fields.
    private static let freshIDs: Set<String> = [
        "request", "correlation", "trace", "span", "transaction", "session", "invocation", "message", "event", "visitor", "visit", "client",
        "device", "installation", "call", "run", "instance",
    ]

    private static let neverDecides = [
        "accept-encoding", "authorization", "cookie", "cookie2", "origin", "referer", "user-agent", "from", "dnt", "priority", "date",
        "x-amz-date", "x-ms-date", "x-goog-date", "x-amz-user-agent", "amz-sdk-invocation-id", "amz-sdk-request", "x-amz-security-token",
        "x-amz-content-sha256", "idempotency-key", "x-idempotency-key", "request-id", "x-request-id", "x-correlation-id", "correlation-id",
        "x-ms-client-request-id", "x-ms-request-id", "client-request-id", "x-client-request-id", "x-goog-request-id", "x-trace-id",
        "x-transaction-id", "x-session-id", "x-cloud-trace-context", "traceparent", "tracestate", "baggage", "b3", "uber-trace-id",
        "sentry-trace", "newrelic", "elastic-apm-traceparent", "x-forwarded-for", "x-forwarded-proto", "forwarded",
        "x-real-ip", "via", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-gpc", "save-data",
        "upgrade-insecure-requests", "cache-control", "pragma", "max-forwards", "x-csrf-token", "x-xsrf-token", "x-stainless-retry-count",
        "x-retry-count", "x-attempt", "x-client-data", "npm-session", "x-goog-api-client", "digest", "content-digest", "repr-digest",
        "content-md5", "svn-rev", "x-timestamp", "timestamp", "x-nonce", "nonce", "x-signature", "signature",
        "signature-input", "sec-websocket-protocol", "*",
    ]

    /// The names in a recorded `Vary` that may make a difference (RFC 9110, 12.5.5), in lower case.
    static func varying(in headers: HeaderFields) -> [String] {
        guard headers.contains("vary") else { return [] }
        var names: [String] = []
        for index in 0..<headers.count where headers.isNamed("vary", at: index) {
            for member in headers.value(at: index).split(separator: ",") {
                let name = member.filter { $0 != " " && $0 != "\t" }.lowercased()
                switch self.role(of: name) {
                case .selecting, .other: if !name.isEmpty, !names.contains(name) { names.append(name) }
                case .neverDecides, .ignored: continue
                }
            }
        }
        return names
    }
}

/// The header fields and placeholders of a request, as hashes. They distinguish requests whose method, URL and body are equal.
///
/// Hashes use a new seed in each process, so a profile is never stored.
struct RequestProfile: Sendable, Hashable {
    struct Field: Sendable, Hashable {
        var name: UInt64
        /// The hash of the value, with marks for its placeholders.
        var value: UInt64
        /// The value with marks. A recorded field keeps it only if it has any.
        var text: [UInt8]?
        var hasMarks = false
        /// The value may change with each request, or describes the client.
        var isFresh = false

        /// Whether the values are equal, or one has marks for secrets that change with each run and the other fits it.
        func agrees(with other: Field) -> Bool {
            if self.value == other.value { return true }
            return self.isFitted(by: other) || other.isFitted(by: self)
        }

        private func isFitted(by other: Field) -> Bool {
            guard self.hasMarks else { return false }
            // A recorded value without marks is not kept. It was not redacted, so a live placeholder cannot represent it.
            guard let text = self.text, let other = other.text else { return false }
            return text.withUnsafeBytes { text in other.withUnsafeBytes { MatchMark.value(text, fits: $0) } }
        }
    }

    /// The marks that tell one requester from another, so that the data of one is not joined with that of the other.
    private struct Requester: Sendable, Hashable {
        /// Which kinds of credentials there are.
        private(set) var kinds: Set<Kind> = []
        /// Hashes of the secrets that last longer than one request, with the numbers of their placeholders. Sorted.
        private var secrets: [UInt64] = []

        enum Kind: Sendable, Hashable { case authorization, cookie }

        /// Schemes whose credentials stay the same: HTTP Authentication Scheme Registry, and those that APIs made up.
        private static let lastingSchemes: Set<String> = [
            "basic", "bearer", "token", "apikey", "api-key", "key", "privatetoken", "jwt", "dpop", "splunk", "klaviyo-api-key", "bot",
        ]

        /// - Parameter name: in lower case.
        mutating func note(_ name: String, _ value: ArraySlice<UInt8>, isFresh: Bool) {
            switch name {
            case "authorization":
                self.kinds.insert(.authorization)
                let scheme = String(decoding: value.prefix { $0 != 32 }, as: UTF8.self).lowercased()
                if Self.lastingSchemes.contains(scheme) || !value.contains(32) { self.add(name, value) }
            case "cookie":
                // Scripts set other cookies, with new values for each request.
                for cookie in value.split(separator: UInt8(ascii: ";"))
                where cookie.withUnsafeBytes({ MatchMark.placeholder(in: $0, from: 0) != nil }) {
                    self.kinds.insert(.cookie)
                    self.add(name, cookie.drop { $0 == 32 })
                }
            default:
                let lasts = !isFresh || name.hasSuffix("token") && !name.contains("csrf") && !name.contains("xsrf")
                if lasts, value.withUnsafeBytes({ MatchMark.placeholder(in: $0, from: 0) != nil }) { self.add(name, value) }
            }
        }

        private mutating func add(_ name: String, _ value: ArraySlice<UInt8>) {
            var hasher = Hasher()
            hasher.combine(name)
            value.withUnsafeBytes { hasher.combine(bytes: $0) }
            self.secrets.append(UInt64(truncatingIfNeeded: hasher.finalize()))
            self.secrets.sort()
        }
    }

    /// The hash of a value that equals all others: a mark replaces a secret that changes with each run.
    static let anything: UInt64 = 0

    /// Sorted by name; each name once.
    private(set) var fields: [Field] = []
    /// The placeholders in the request's URL, fields and body.
    var placeholders: HeldPlaceholders
    /// A hash of the values of each repeated name in the query and the body, in their order; 0 if no name is repeated. Queries and forms are
    /// equal in any order, but `sort=name&sort=date` means something else than its reverse.
    var repeatedItems: UInt64 = 0
    private var requester = Requester()

    /// - Parameters:
    ///   - rules: their ignored fields are left out, and their patterns make values equal.
    ///   - headers: redacted header fields.
    ///   - isLive: keeps the values, to compare them with recorded ones that have marks.
    ///   - url: with its query.
    ///   - note: receives the name of each field that may make a difference, with its hash.
    init(
        _ headers: HeaderFields, rules: MatchRules, placeholders: HeldPlaceholders, url: String = "", isLive: Bool = false,
        note: (String, UInt64) -> Void = { _, _ in }
    ) {
        self.placeholders = placeholders
        self.repeatedItems = Self.repeatedItems(of: url)
        self.fields.reserveCapacity(headers.count)
        for index in 0..<headers.count {
            let name = headers.name(at: index).lowercased()
            let role = RequestFieldNames.role(of: name)
            guard role != .ignored, !rules.ignoresField(name) else { continue }
            let hash = Self.hash(name)
            if role != .neverDecides { note(name, hash) }
            var field = Self.field(hash, headers.valueBytes(at: index), of: name, rules)
            field.isFresh = role == .neverDecides
            self.add(field, isLive: isLive)
            if name == "cookie" { self.addCookies(headers.valueBytes(at: index), rules, isLive: isLive) }
            self.requester.note(name, headers.valueBytes(at: index), isFresh: field.isFresh)
        }
    }

    /// The most cookies of a field that are compared by themselves.
    private static let cookieLimit = 64

    /// Adds each cookie as a field of its own: one whose value is new in each request must not hide the others.
    private mutating func addCookies(_ value: ArraySlice<UInt8>, _ rules: MatchRules, isLive: Bool) {
        for cookie in value.split(separator: UInt8(ascii: ";")).prefix(Self.cookieLimit) {
            let pair = cookie.drop { $0 == 32 }
            let name = String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
            var field = Self.field(Self.cookieHash(name), pair, of: "", rules)
            field.isFresh = true
            self.add(field, isLive: isLive)
        }
    }

    private static func repeatedItems(of url: String) -> UInt64 {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return 0 }
        let query = url.utf8[url.utf8.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
        let items = query.split(separator: UInt8(ascii: "&")).map { item in
            (name: Array(item.prefix { $0 != UInt8(ascii: "=") }), item: Array(item))
        }
        guard items.count > 1 else { return 0 }
        let counts = items.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
        let repeated = items.filter { counts[$0.name, default: 0] > 1 }
        guard !repeated.isEmpty else { return 0 }
        var sum: UInt64 = 0
        for (name, _) in counts where counts[name, default: 0] > 1 {
            var hasher = Hasher()
            for one in repeated where one.name == name { hasher.combine(one.item) }
            sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return sum | 1
    }

    private mutating func add(_ field: Field, isLive: Bool) {
        var field = field
        // Values of the same name are compared together, so a value with marks needs the others.
        if !isLive, !field.hasMarks { field.text = nil }
        let position = self.fields.firstIndex { $0.name >= field.name } ?? self.fields.count
        guard position < self.fields.count, self.fields[position].name == field.name else {
            return self.fields.insert(field, at: position)
        }
        let first = self.fields[position]
        self.fields[position].value = Self.combined(first.value, field.value)
        self.fields[position].hasMarks = first.hasMarks || field.hasMarks
        self.fields[position].text =
            if let text = first.text, let more = field.text { text + [10] + more } else { nil }
    }

    /// Nil if there is no such field.
    func value(of name: UInt64) -> UInt64? { self.field(name)?.value }

    private func field(_ name: UInt64) -> Field? { self.fields.first { $0.name == name } }

    /// Whether both have the field with equal values, or neither has the field.
    func agrees(with other: RequestProfile, on name: UInt64) -> Bool {
        switch (self.field(name), other.field(name)) {
        case (nil, nil): true
        case (let left?, let right?): left.agrees(with: right)
        case (_?, nil), (nil, _?): false
        }
    }

    /// A copy without some fields.
    func without(_ names: Set<UInt64>) -> RequestProfile {
        var other = self
        other.fields.removeAll { names.contains($0.name) }
        return other
    }

    /// Whether this live request may come from the requester of a recorded one: all fields are equal, except for those that change with
    /// each request, and both have credentials or neither has. A secret has another number in each run, so its value is unknown.
    func mayBeOfRequester(of recorded: RequestProfile) -> Bool {
        self.requester.kinds == recorded.requester.kinds && self.agreesOnLastingFields(with: recorded)
    }

    /// Whether two recorded requests come from the same requester: the secrets that do not change with each request are the same, too.
    func isOfSameRequester(as other: RequestProfile) -> Bool {
        self.requester == other.requester && self.agreesOnLastingFields(with: other)
    }

    /// Whether both have credentials, or neither has.
    func hasCredentials(like other: RequestProfile) -> Bool { self.requester.kinds == other.requester.kinds }

    private func agreesOnLastingFields(with other: RequestProfile) -> Bool {
        let names = Set((self.fields + other.fields).filter { !$0.isFresh }.map(\.name))
        return names.allSatisfy { self.agrees(with: other, on: $0) }
    }

    /// How many fields two requests have in common.
    struct SharedFields: Sendable, Hashable {
        /// Fields whose values are equal.
        var equal = 0
        /// Those of them whose values are the same text, with marks for secrets. A placeholder matches any value, but preferably a secret.
        var same = 0
        /// Fields that both have, with different values.
        var different = 0
        /// Fields that only one of the two has.
        var ofOne = 0
    }

    func sharedFields(with other: RequestProfile) -> SharedFields {
        var shared = SharedFields()
        var (left, right) = (0, 0)
        while left < self.fields.count, right < other.fields.count {
            let (mine, theirs) = (self.fields[left], other.fields[right])
            if mine.name == theirs.name {
                if mine.value == theirs.value { shared.same += 1 }
                if mine.agrees(with: theirs) { shared.equal += 1 } else { shared.different += 1 }
                left += 1
                right += 1
            } else {
                shared.ofOne += 1
                if mine.name < theirs.name { left += 1 } else { right += 1 }
            }
        }
        shared.ofOne += self.fields.count - left + other.fields.count - right
        return shared
    }

    /// The hash of the name of the field that each cookie is.
    static func cookieHash(_ name: String) -> UInt64 { self.hash("cookie, \(name)") }

    static func hash(_ name: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(name)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    private static func combined(_ first: UInt64, _ second: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(first)
        hasher.combine(second)
        return UInt64(truncatingIfNeeded: hasher.finalize()) | 1
    }

    private static func field(_ hash: UInt64, _ bytes: ArraySlice<UInt8>, of name: String, _ rules: MatchRules) -> Field {
        var value = Array(bytes)
        if name == "content-type" { value = HeadKeyWriter.withoutBoundary(value) }
        if name == "authorization" { value = ConnectionLogin.lasting(value) ?? LastingCredentials.bytes(of: value) ?? value }
        if let pattern = rules.substitute(for: value, ofField: name) { value = pattern }
        let marked = value.withUnsafeBytes { MatchMark.replaced(in: $0) }
        value = marked ?? value
        let hasMarks = marked != nil || value.withUnsafeBytes { MatchMark.isIn($0) }
        var hasher = Hasher()
        value.withUnsafeBytes { hasher.combine(bytes: $0) }
        return Field(name: hash, value: UInt64(truncatingIfNeeded: hasher.finalize()) | 1, text: value, hasMarks: hasMarks)
    }
}
