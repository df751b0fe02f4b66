@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import TapeBytes
import TapeTestSupport
import Testing

/// Requests to one URL with different header fields.
@Suite struct FieldChoiceTests {
    private typealias Request = SentRequests.Request

    private func get(_ lines: String..., status: Int = 200, answering: [String] = [], answer: String = "") -> Request {
        Request(method: "GET", lines: lines, status: status, answerLines: answering, answer: answer)
    }

    private func left(_ lines: String..., answer: String) -> Request {
        Request(
            method: "GET", lines: lines, answer: answer, outcome: .cut(Cut(by: .client, reason: "the client left")))
    }

    /// The indexes of the exchanges that answer the requests in turn; nil for a miss.
    private func indexes(_ session: CassetteSession, _ requests: [Request]) throws -> [Int?] {
        try requests.map { request in
            guard case .replay(let index, _) = try session.send(request) else { return nil }
            return index
        }
    }

    private func miss(_ session: CassetteSession, _ request: Request) throws -> MissReport {
        guard case .refuse(let report) = try session.send(request) else { throw CassetteError(.damaged, "not refused") }
        return report
    }

    // MARK: The protocol decides

    @Test(arguments: [
        (206, "Range: bytes=0-9", "Range: bytes=10-19"), (416, "Range: bytes=90-", "Range: bytes=0-9"),
        (304, "If-None-Match: \"a\"", "If-None-Match: \"b\""),
        (304, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "If-Modified-Since: Mon, 07 Nov 1994 08:49:37 GMT"),
        (412, "If-Match: \"a\"", "If-Match: \"b\""), (412, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "If-Match: \"a\""),
    ])
    func boundAnswerIsOnlyForTheSamePreconditions(status: Int, recorded: String, other: String) throws {
        let session = SentRequests(requests: [self.get(recorded, status: status)]).session()
        #expect(try self.indexes(session, [self.get(other), self.get(), self.get(recorded)]) == [nil, nil, 0])
    }

    @Test(arguments: ["Accept", "Accept-Language", "Accept-Charset"])
    func aRefusalOfWhatAClientAcceptsIsOnlyForThat(name: String) throws {
        let session = SentRequests(requests: [self.get("\(name): a", status: 406)]).session()
        #expect(try self.indexes(session, [self.get("\(name): b"), self.get(), self.get("\(name): a")]) == [nil, nil, 0])
    }

    @Test(arguments: ["Content-Type", "Content-Encoding"])
    func aRefusalOfATypeIsOnlyForThat(name: String) throws {
        func post(_ value: String) -> Request { Request(lines: ["\(name): \(value)"], body: "x", status: 415) }
        let session = SentRequests(requests: [post("a/b")]).session()
        #expect(try self.indexes(session, [post("c/d"), post("a/b")]) == [nil, 0])
    }

    @Test func aRefusedTypeMayBeIgnored() throws {
        let recorded = Request(lines: ["Content-Type: text/xml"], body: "x", status: 415)
        let live = Request(lines: ["Content-Type: text/csv"], body: "x")
        let report = try self.miss(SentRequests(requests: [recorded]).session(), live)
        #expect(report.ignorablePlaces == ["header:content-type"])
        let session = SentRequests(requests: [recorded]).session(rules: try MatchRules(ignore: ["header:content-type"]))
        #expect(try self.indexes(session, [live]) == [0])
    }

    @Test func rangesDoNotGetEachOthersBytes() throws {
        let recorded = ["0-4", "5-9", "10-14"].map { self.get("Range: bytes=\($0)", status: 206, answer: "part \($0)") }
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [recorded[2], recorded[0], recorded[1], recorded[1]]) == [2, 0, 1, nil])
    }

    @Test func rangeWithAnotherIfRangeIsAMiss() throws {
        let recorded = self.get("Range: bytes=0-4", "If-Range: \"a\"", status: 206)
        let session = SentRequests(requests: [recorded]).session()
        let others = [self.get("Range: bytes=0-4", "If-Range: \"b\""), self.get("Range: bytes=0-4")]
        #expect(try self.indexes(session, others + [recorded]) == [nil, nil, 0])
    }

    @Test func notModifiedNeverAnswersAClientThatHasNothing() throws {
        let recorded = [self.get(status: 200, answer: "page"), self.get("If-None-Match: \"a\"", status: 304)]
        for repetition in [Repetition.last, .cycle] {
            let session = SentRequests(requests: recorded).session(repetition: repetition)
            #expect(try self.indexes(session, [self.get(), self.get(), recorded[1], self.get()]) == [0, 0, 1, 0])
        }
    }

    @Test func noAdviceLeadsToAnAnswerThatIsNotPossible() throws {
        let session = SentRequests(requests: [self.get("If-None-Match: \"a\"", status: 304)]).session()
        let report = try self.miss(session, self.get())
        #expect(report.reason == .notRecorded)
        #expect(report.ignorablePlaces.isEmpty)
        #expect(!report.description.contains("--repeat"))
        #expect(
            report.nearest.first?.differences.map(\.description) == [
                "the recorded answer is a 304, which only answers a request with \"if-none-match\" or \"if-modified-since\""
            ])
        let ignoring = try MatchRules(ignore: ["header:if-none-match", "header:if-modified-since"])
        let lenient = SentRequests(requests: [self.get("If-None-Match: \"a\"", status: 304)]).session(rules: ignoring)
        #expect(try self.indexes(lenient, [self.get(), self.get("If-None-Match: \"b\"")]) == [nil, 0])
    }

    /// RFC 9110, 13.1.2 and 13.1.3: weak comparison, and a date does not count next to a tag.
    @Test(arguments: [
        ("\"a\"", [], "W/\"a\"", true), ("W/\"a\"", [], "\"a\"", true), ("\"a\"", [], "\"x,y\", \"a\"", true),
        ("\"a\"", [], "*", true), ("\"a\"", [], "\"b\", \"c\"", false), ("\"a\", \"b\"", [], "\"a\"", false),
        ("\"a\", \"b\"", ["ETag: W/\"b\""], "\"b\"", true), ("\"a\", \"b\"", ["ETag: \"b\""], "\"a\"", false),
        ("*", [], "\"a\"", false), ("*", ["ETag: \"a\""], "\"a\"", true), ("\"a,b\"", [], "\"a\"", false),
    ])
    func a304AnswersTheTagsThatNameItsRepresentation(recorded: String, answering: [String], live: String, isAnswered: Bool) throws {
        let request = self.get(
            "If-None-Match: \(recorded)", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", status: 304, answering: answering)
        let session = SentRequests(requests: [request]).session()
        #expect(try self.indexes(session, [self.get("If-None-Match: \(live)")]) == [isAnswered ? 0 : nil])
        #expect(try self.indexes(session, [self.get("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT")]) == [nil])
    }

    @Test func a304AnswersNoRequestWithAFailingIfMatch() throws {
        let recorded = self.get("If-None-Match: \"a\"", status: 304, answering: ["ETag: \"a\""])
        let session = SentRequests(requests: [recorded]).session(repetition: .last)
        let live = ["\"z\"", "\"a\""].map { self.get("If-None-Match: \"a\"", "If-Match: \($0)") }
        #expect(try self.indexes(session, live) == [nil, 0])
    }

    @Test(arguments: [
        (206, "Range: bytes=0-9", "Range: bytes=10-19"), (416, "Range: bytes=90-", "Range: bytes=0-9"),
        (412, "If-Match: \"a\"", "If-Match: \"b\""),
    ])
    func noRuleIsAdvisedThatLeadsToAnotherPart(status: Int, recorded: String, other: String) throws {
        let session = SentRequests(requests: [self.get(recorded, status: status)]).session()
        let report = try self.miss(session, self.get(other))
        #expect(report.ignorablePlaces.isEmpty && !report.description.contains("--ignore"))
        #expect(report.nearest.first?.differences.first?.description.hasSuffix("and the recorded answer is a \(status)") == true)
    }

    @Test func noRuleIsAdvisedThatLetsA304AnswerAnotherVersion() throws {
        let session = SentRequests(requests: [self.get("If-None-Match: \"a\"", status: 304)]).session()
        let report = try self.miss(session, self.get("If-None-Match: \"b\""))
        #expect(report.ignorablePlaces.isEmpty && !report.description.contains("--ignore"))
        #expect(
            report.nearest.first?.differences.map(\.description)
                == [#"header "if-none-match" is "\"b\"", recorded is "\"a\"", and the recorded answer is a 304"#])
    }

    @Test func wholeAnswerIsForAnyConditionalRequest() throws {
        let recorded = [self.get("If-None-Match: \"a\"", status: 304), self.get(status: 200, answer: "page")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("If-None-Match: \"b\""), recorded[0]]) == [1, 0])
    }

    @Test func unsafeRequestWithAnotherPreconditionIsAMiss() throws {
        let recorded = [
            Request(method: "PUT", lines: ["If-Match: \"1\""], body: "x", status: 204),
            Request(method: "PUT", lines: ["If-Match: \"0\""], body: "x", status: 412),
        ]
        let session = SentRequests(requests: recorded).session()
        let other = Request(method: "PUT", lines: ["If-Match: \"2\""], body: "x")
        #expect(try self.indexes(session, [other, recorded[1], recorded[0]]) == [nil, 1, 0])
    }

    @Test func originThatIgnoredARangeIgnoresAnother() throws {
        let session = SentRequests(requests: [self.get("Range: bytes=0-4", answer: "whole")]).session(repetition: .last)
        #expect(try self.indexes(session, [self.get("Range: bytes=5-9"), self.get()]) == [0, 0])
    }

    @Test(arguments: ["Accept-Ranges: none", "Content-Type: text/event-stream"]) func originWithoutRangesSendsTheWhole(line: String) throws
    {
        let session = SentRequests(requests: [self.get(answering: [line], answer: "0123456789")]).session(repetition: .last)
        #expect(try session.send(self.get("Range: bytes=5-9")) == .replay(index: 0))
        #expect(try session.send(self.get()) == .replay(index: 0))
    }

    /// A part with a 200, in the units of its origin, like PostgREST's.
    @Test func partsWithAnotherStatusAreParts() throws {
        let lines = (0..<2).map { ["Range-Unit: items", "Range: \($0 * 5)-\($0 * 5 + 4)"] }
        let recorded = lines.enumerated().map { number, lines in
            Request(method: "GET", lines: lines, answerLines: ["Content-Range: \(number * 5)-\(number * 5 + 4)/*"], answer: "\(number)")
        }
        for answerLines in [recorded[0].answerLines, []] {
            var requests = recorded
            for index in requests.indices { requests[index].answerLines = answerLines.isEmpty ? [] : requests[index].answerLines }
            let session = SentRequests(requests: requests).session()
            let other = self.get("Range-Unit: items", "Range: 10-14")
            #expect(try self.indexes(session, [requests[1], other, self.get(), requests[1], requests[0]]) == [1, nil, nil, nil, 0])
        }
    }

    @Test func anAnswerToAConditionThatDidNotHoldIsNoPart() throws {
        let whole = self.get("Range: bytes=2-", "If-Range: \"old\"", answering: ["ETag: \"new\""], answer: "0123456789")
        let session = SentRequests(requests: [whole]).session()
        guard case .replay(0, let form) = try session.send(self.get("Range: bytes=2-")) else {
            Issue.record("not computed")
            return
        }
        #expect(form.ranges?.ranges == [2..<10])
        #expect(try session.send(whole) == .replay(index: 0))
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH"], ["Range: bytes=0-4", "If-Match: \"a\"", "If-None-Match: *"])
    func preconditionsDecideTheAnswerToAWrite(method: String, line: String) throws {
        let name = line.prefix { $0 != ":" }
        func request(_ lines: [String]) -> Request { Request(method: method, lines: lines, status: 200, answer: "done") }
        for (recorded, others) in [([line], [[], ["\(name): \"b\""]]), ([], [[line]])] {
            let session = SentRequests(requests: [request(recorded)]).session()
            #expect(try self.indexes(session, others.map(request)).allSatisfy { $0 == nil })
            // Without its range, a request would get the answer for another one.
            #expect(session.verdict().reports.last?.ignorablePlaces == (name == "Range" ? [] : ["header:\(name.lowercased())"]))
            #expect(try self.indexes(session, [request(recorded)]) == [0])
        }
    }

    @Test(arguments: [
        ("If-Match: \"v2\"", true), ("If-Match: \"v1\", \"v2\"", true), ("If-Match: *", true), ("If-Match: \"v1\"", false),
        ("If-Match: W/\"v2\"", false), ("If-Unmodified-Since: Wed, 01 Jan 2020 00:00:00 GMT", true),
        ("If-Unmodified-Since: Tue, 31 Dec 2019 23:59:59 GMT", false), ("If-Unmodified-Since: yesterday", true),
    ])
    func preconditionsThatFailGetNoAnswer(line: String, holds: Bool) throws {
        let answering = ["ETag: \"v2\"", "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT", "Date: Wed, 01 Jan 2025 00:00:00 GMT"]
        let whole = self.get(answering: answering, answer: "0123456789")
        let session = SentRequests(requests: [whole]).session(repetition: .last)
        #expect(try self.indexes(session, [self.get(line), self.get(line, "Range: bytes=0-4")]) == (holds ? [0, 0] : [nil, nil]))
        if !holds {
            let name = line.prefix { $0 != ":" }.lowercased()
            // Ignoring it would lead to an answer that the request excludes.
            #expect(session.verdict().reports.first?.ignorablePlaces == [])
            let ignoring = SentRequests(requests: [whole]).session(rules: try MatchRules(ignore: ["header:\(name)"]))
            #expect(try self.indexes(ignoring, [self.get(line)]) == [0])
        }
        #expect(try self.indexes(session, [self.get()]) == [0])
    }

    @Test func rangesOfAzureAreRanges() throws {
        let recorded = ["0-4", "5-9"].map { self.get("x-ms-range: bytes=\($0)", status: 206, answer: "part \($0)") }
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("x-ms-range: bytes=7-9"), self.get(), recorded[1], recorded[0]]) == [nil, nil, 1, 0])
    }

    @Test(arguments: DecidingFields.operations.map(\.description))
    func anotherOperationIsNeverAnswered(name: String) throws {
        for (recorded, others) in [(["\(name): a"], [[], ["\(name): b"]]), ([], [["\(name): a"]])] {
            for body in ["", "x"] {
                func request(_ lines: [String]) -> Request { Request(method: "POST", lines: lines, body: body, answer: "one") }
                let session = SentRequests(requests: [request(recorded)]).session()
                #expect(try self.indexes(session, others.map(request)).allSatisfy { $0 == nil })
                #expect(try self.indexes(session, [request(recorded)]) == [0])
            }
        }
    }

    // MARK: The cassette decides

    @Test(arguments: [
        "Accept", "Accept-Language", "Prefer", "Depth", "SOAPAction", "X-Amz-Target", "X-HTTP-Method-Override", "Upload-Offset",
        "Content-Type", "X-Api-Operation", "Git-Protocol", "HX-Request", "X-Tenant", "X-Tenant-Id", "Api-Version", "X-API-Version",
        "X-GitHub-Event", "A-IM", "Want-Digest", "X-Chunk-Index", "X-Part-Number", "Stripe-Account", "OpenAI-Organization", "Timezone",
        "X-Country", "DPR", "Width", "Slug", "Brief", "Icy-MetaData", "Content-Disposition", "X-Locale", "X-Shopify-Shop",
        "X-Amz-Object-Attributes", "Impersonate-User", "Impersonate-Group", "X-Continuation-Token", "X-Remote-User", "X-Forwarded-Host",
        "X-Project", "X-Environment", "X-Store", "X-Channel", "X-Device", "X-Feature", "X-Upload-Content-Type", "x-ms-lease-id",
    ])
    func fieldThatSelectsIsComparedIfItDecided(name: String) throws {
        let recorded = [self.get("\(name): a", "X-Request-Id: 1", answer: "one"), self.get("\(name): b", "X-Request-Id: 2", answer: "two")]
        let session = SentRequests(requests: recorded).session()
        let live = ["b", "c", "a"].map { self.get("\(name): \($0)", "X-Request-Id: 9") }
        #expect(try self.indexes(session, live + [self.get()]) == [1, nil, 0, nil])
    }

    @Test func fieldThatDidNotDecideIsNotCompared() throws {
        let recorded = [self.get("Accept: a", answer: "same"), self.get("Accept: b", answer: "same")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("Accept: c"), self.get("Accept: c")]) == [0, 1])
    }

    @Test func fieldThatVaryNamesIsCompared() throws {
        let recorded = [
            self.get("X-Flavour: mint", answering: ["Vary: Accept-Encoding, X-Flavour"], answer: "one"),
            self.get("X-Flavour: lime", answer: "two"),
        ]
        let session = SentRequests(requests: recorded).session()
        let live = ["lime", "plum", "mint"].map { self.get("X-Flavour: \($0)") }
        #expect(try self.indexes(session, live) == [1, nil, 0])
    }

    @Test(arguments: [
        "User-Agent", "Cookie", "Authorization", "Accept-Encoding", "Origin", "X-Request-Id", "traceparent", "X-Amz-Date", "Date",
        "X-Correlation-ID", "X-Acme-Request-Id", "X-Acme-Timestamp",
    ])
    func valueThatIsNewInEachRequestNeverCausesAMiss(name: String) throws {
        let vary = ["Vary: \(name)"]
        let recorded = [self.get("\(name): a", answering: vary, answer: "one"), self.get("\(name): b", answering: vary, answer: "two")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("\(name): z"), self.get("\(name): y")]) == [0, 1])
        let ties = SentRequests(requests: recorded).session()
        #expect(try self.indexes(ties, [self.get("\(name): b"), self.get("\(name): a")]) == [1, 0])
    }

    @Test func severalFieldsThatDifferTogetherDecideTogether() throws {
        let recorded = [
            self.get("Accept: text/html", "Accept-Language: en", answer: "one"),
            self.get("Accept: application/json", "Accept-Language: de", answer: "two"),
        ]
        let session = SentRequests(requests: recorded).session()
        #expect(
            try self.indexes(session, [self.get("Accept: text/html", "Accept-Language: de"), recorded[1], recorded[0]]) == [nil, 1, 0])
    }

    @Test(arguments: [
        ("HEAD", "Accept-Language", "Content-Language"), ("HEAD", "Accept", "Content-Length"), ("PATCH", "Prefer", "Preference-Applied"),
        ("PATCH", "X-Chunk-Index", "Upload-Offset"), ("GET", "Accept-Language", "Content-Language"), ("PUT", "X-Part-Number", "ETag"),
        ("POST", "Slug", "Location"),
    ])
    func answersThatDifferInTheirFieldsAreDifferent(method: String, name: String, answering: String) throws {
        let recorded = ["a", "b"].map {
            Request(method: method, lines: ["\(name): \($0)"], status: 200, answerLines: ["\(answering): \($0)", "Date: \($0)"])
        }
        let session = SentRequests(requests: recorded).session()
        let other = Request(method: method, lines: ["\(name): c"])
        #expect(try self.indexes(session, [recorded[1], recorded[1], other, recorded[0]]) == [1, nil, nil, 0])
    }

    @Test(arguments: ["Date", "Set-Cookie", "Age", "X-Request-Id", "Server-Timing", "CF-Ray"])
    func fieldsThatAreNewInEachAnswerTellNothing(answering: String) throws {
        let recorded = ["a", "b"].map {
            Request(method: "HEAD", lines: ["Accept: \($0)"], status: 204, answerLines: ["\(answering): \($0)"])
        }
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [Request(method: "HEAD", lines: ["Accept: c"]), recorded[0]]) == [0, 1])
    }

    @Test func pollWhoseAnswersChangeKeepsTheOrder() throws {
        let recorded = ["queued", "running", "done"].map { self.get("Accept: */*", "User-Agent: a", answer: $0) }
        let session = SentRequests(requests: recorded).session()
        let live = self.get("Accept: */*", "User-Agent: b")
        #expect(try self.indexes(session, [live, live, live, live]) == [0, 1, 2, nil])
    }

    @Test func missBecauseOfAFieldNamesItAndTheRule() throws {
        let recorded = [self.get("Accept: text/html", answer: "one"), self.get("Accept: application/json", answer: "two")]
        let report = try self.miss(SentRequests(requests: recorded).session(), self.get("Accept: text/csv"))
        #expect(report.ignorablePlaces == ["header:accept"])
        #expect(report.nearest.first?.differences.map(\.description) == ["header \"accept\" is \"text/csv\", recorded is \"text/html\""])
        let ignoring = try MatchRules(ignore: ["header:accept"])
        #expect(try self.indexes(SentRequests(requests: recorded).session(rules: ignoring), [self.get("Accept: text/csv")]) == [0])
    }

    @Test(arguments: [
        ("POST", "X-Amz-Target", "json body", "header:x-amz-target"), ("PROPFIND", "Depth", "", "header:depth"),
        ("PUT", "If-Match", "body", "header:if-match"),
    ])
    func missBecauseOfTheURLAndAFieldNamesBoth(method: String, name: String, body: String, place: String) throws {
        func request(_ query: String, _ value: String) -> Request {
            Request(method: method, url: "http://a.test/?\(query)", lines: ["\(name): \(value)"], body: body, answer: "one")
        }
        let session = SentRequests(requests: [request("t=1", "\"1\"")]).session()
        let report = try self.miss(session, request("t=2", "\"2\""))
        #expect(report.description.contains(name.lowercased()), "\(report.description)")
        #expect(report.ignorablePlaces == ["query:t", place])
        let ignoring = SentRequests(requests: [request("t=1", "\"1\"")]).session(rules: try MatchRules(ignore: ["query:t", place]))
        #expect(try self.indexes(ignoring, [request("t=2", "\"2\"")]) == [0])
    }

    @Test func patternMakesValuesEqual() throws {
        let rules = try MatchRules(patterns: ["header:accept-language=de.*"])
        let recorded = [self.get("Accept-Language: de", answer: "one"), self.get("Accept-Language: en", answer: "two")]
        let session = SentRequests(requests: recorded).session(rules: rules)
        #expect(try self.indexes(session, [self.get("Accept-Language: en"), self.get("Accept-Language: de-AT")]) == [1, 0])
    }

    @Test func fieldsDecideBetweenEqualBodies() throws {
        let recorded = ["Depth: 0", "Depth: 1"].map { Request(method: "PROPFIND", lines: [$0], body: "<propfind/>", answer: $0) }
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [recorded[1], recorded[0], recorded[0]]) == [1, 0, nil])
    }

    @Test func strictOrderRefusesRequestsThatAreNotNext() throws {
        let recorded = [self.get("Accept: a", answer: "one"), self.get("Accept: b", answer: "two")]
        let session = SentRequests(requests: recorded).session(order: .strict)
        #expect(try self.indexes(session, [recorded[1], recorded[0], recorded[1]]) == [nil, 0, 1])
    }

    // MARK: Ties

    @Test func mostEqualFieldsWin() throws {
        let recorded = [
            self.get("A: 1", "B: 1", answer: "one"), self.get("A: 1", "B: 2", answer: "two"), self.get("A: 1", answer: "three"),
        ]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("A: 1"), self.get("A: 1", "B: 2"), self.get("A: 1", "B: 9")]) == [2, 1, 0])
    }

    /// Queries are equal in any order, but the one whose repeated items are in the same order is preferred.
    @Test func theOrderOfRepeatedItemsIsPreferred() throws {
        func get(_ query: String) -> Request { Request(method: "GET", url: "http://a.test/?\(query)", answer: query) }
        let recorded = [get("sort=name&a=1&sort=date"), get("a=1&sort=date&sort=name")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [get("sort=date&sort=name&a=1"), get("a=1&sort=name&sort=date")]) == [1, 0])
        let used = SentRequests(requests: recorded).session()
        #expect(try self.indexes(used, [recorded[1], recorded[1], recorded[0]]) == [1, 0, nil])
    }

    /// Forms and multipart bodies likewise.
    @Test func theOrderOfRepeatedFieldsIsPreferred() throws {
        func form(_ body: String) -> Request {
            Request(lines: ["Content-Type: application/x-www-form-urlencoded"], body: body, answer: body)
        }
        func parts(_ names: String) -> Request {
            let parts = names.map { "--b\r\nContent-Disposition: form-data; name=\($0.isLetter ? "x" : "y")\r\n\r\n\($0)\r\n" }
            return Request(lines: ["Content-Type: multipart/form-data; boundary=b"], body: parts.joined() + "--b--\r\n", answer: names)
        }
        for (one, other, third) in [
            (form("s=a&t=1&s=b"), form("t=1&s=b&s=a"), form("s=b&t=1&s=a")), (parts("a1b"), parts("1ba"), parts("b1a")),
        ] {
            let session = SentRequests(requests: [one, other]).session()
            #expect(try self.indexes(session, [third, one]) == [1, 0])
            let used = SentRequests(requests: [one, other]).session()
            #expect(try self.indexes(used, [other, other, one]) == [1, 0, nil])
        }
    }

    /// A value without a placeholder was not a secret, so a secret does not match it.
    @Test func aSecretIsNotEqualToAPlainValue() throws {
        let recorded = [self.get("Cookie: lang=en", answer: "one"), self.get("Cookie: sid={{cookie:1}}", answer: "two")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("Cookie: sid={{cookie:7}}"), self.get("Cookie: lang=en")]) == [1, 0])
        let others = [self.get("X-Foo: {{token:1}}", answer: "one"), self.get("X-Foo: plain", answer: "two")]
        let reversed = SentRequests(requests: others).session()
        #expect(try self.indexes(reversed, [self.get("X-Foo: plain"), self.get("X-Foo: {{token:7}}")]) == [1, 0])
    }

    /// Values that are new in each run: the field is there, as in the recording.
    @Test(arguments: [
        (
            "Authorization: OAuth oauth_consumer_key=\"k\", oauth_nonce=\"1\"",
            "Authorization: OAuth oauth_consumer_key=\"k\", oauth_nonce=\"2\""
        ),
        ("Authorization: Hawk id=\"a\", ts=\"1\", mac=\"x\"", "Authorization: Hawk id=\"a\", ts=\"2\", mac=\"y\""),
        ("Authorization: Custom 1", "Authorization: Custom 2"), ("X-Timestamp: 1", "X-Timestamp: 2"), ("X-Visit: a", "X-Visit: b"),
        ("Referer: http://a.test/1", "Referer: http://a.test/2"),
    ])
    func anotherValueIsNearerThanNone(recorded: String, live: String) throws {
        let requests = [
            self.get("A: 1", answer: "no"), self.get("A: 1", recorded, answer: "yes"), self.get("A: 1", answer: "no"),
            self.get("A: 1", recorded, answer: "yes"),
        ]
        let session = SentRequests(requests: requests).session()
        let lives = [self.get("A: 1"), self.get("A: 1", live), self.get("A: 1"), self.get("A: 1", live)]
        #expect(try self.indexes(session, lives) == [0, 1, 2, 3])
        let reversed = SentRequests(requests: requests).session()
        #expect(try self.indexes(reversed, [lives[1], lives[0], lives[3], lives[2]]) == [1, 0, 3, 2])
    }

    /// Some services take a token after the name of a scheme that has parameters elsewhere.
    @Test(arguments: ["OAuth", "MAC", "Signature", "Digest"]) func aTokenInPlaceOfParametersTellsUsersApart(scheme: String) throws {
        let recorded = [self.get("Authorization: \(scheme) aaa", answer: "one"), self.get("Authorization: \(scheme) bbb", answer: "two")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [recorded[1], recorded[0]]) == [1, 0])
    }

    @Test(arguments: [
        (
            "Digest username=\"alice\", nonce=\"1\", nc=00000001, response=\"{{password:1}}\"",
            "Digest username=\"bob\", nonce=\"2\", nc=00000001, response=\"{{password:2}}\""
        ),
        ("Digest nonce=\"1\",username*=UTF-8''alice", "Digest nonce=\"2\",username*=UTF-8''bob"),
        (
            "OAuth oauth_token=\"{{token:1}}\",oauth_nonce=\"1\",oauth_consumer_key=a",
            "OAuth oauth_token=\"{{token:1}}\",oauth_nonce=\"2\",oauth_consumer_key=b"
        ),
        ("Hawk id=\"alice\", ts=\"1\"", "Hawk ts=\"2\", id=\"bob\""),
        ("Signature keyId=\"a\",created=1", "Signature created=2,keyId=\"b\""),
        (
            "AWS4-HMAC-SHA256 Credential=A/20200101/r/s/aws4_request, Signature=1",
            "AWS4-HMAC-SHA256 Credential=B/20200102/r/s/aws4_request, Signature=2"
        ),
    ])
    func usersOfSchemesWithNoncesAreToldApart(alice: String, bob: String) throws {
        func request(_ credentials: String?, answer: String) -> Request {
            self.get("A: 1", credentials.map { "Authorization: \($0)" } ?? "B: 1", answer: answer)
        }
        let recorded = [
            request(nil, answer: "401"), request(alice, answer: "alice"), request(nil, answer: "401"), request(bob, answer: "bob"),
        ]
        let session = SentRequests(requests: recorded).session()
        // Each got the challenge of the other, and has other values for all but the names.
        func fresh(_ credentials: String) -> String {
            credentials.replacing("\"1\"", with: "\"9\"").replacing("\"2\"", with: "\"8\"").replacing("=2020010", with: "=2024110")
        }
        let lives = [
            request(nil, answer: ""), request(fresh(bob), answer: ""), request(nil, answer: ""), request(fresh(alice), answer: ""),
        ]
        #expect(try self.indexes(session, lives) == [0, 3, 2, 1])
    }

    /// A cookie that is new in each run does not hide the others.
    @Test func eachCookieCountsByItself() throws {
        let recorded = [self.get("Cookie: lang=de; n=43942", answer: "de"), self.get("Cookie: lang=fr; n=11681", answer: "fr")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("Cookie: n=7; lang=fr"), self.get("Cookie: n=8; lang=de")]) == [1, 0])
    }

    @Test func aMissOfAValueThatRecursNamesTheField() throws {
        let requests = [self.get("X-Visit: one", answer: "1"), self.get("X-Visit: two", answer: "2")]
        let session = SentRequests(requests: requests).session()
        #expect(try session.send(requests[0]).replayed == 0)
        let report = try self.miss(session, requests[0])
        #expect(report.reason == .notRecorded)
        let nearest = report.nearest.first { $0.index == 1 }
        #expect(nearest?.differences == [.header(name: "x-visit", here: "one", recorded: "two")])
        #expect(report.description.contains("--ignore header:x-visit"), "\(report)")
    }

    @Test(arguments: ["X-Visit", "X-Step", "X-Ms-Page-Write"]) func aValueThatRecursGetsNoOtherAnswer(name: String) throws {
        let recorded = [self.get("\(name): a", answer: "one"), self.get("\(name): b", answer: "two")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("\(name): b"), self.get("\(name): b"), self.get("\(name): a")]) == [1, nil, 0])
    }

    /// Values that are new in each run, and a poll whose answers change, keep their order.
    @Test func valuesThatAreNewInEachRunKeepTheirOrder() throws {
        let recorded = [
            self.get("X-Visit: a", answer: "one"), self.get("X-Visit: b", answer: "two"), self.get("X-Visit: b", answer: "three"),
        ]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("X-Visit: c"), self.get("X-Visit: d"), self.get("X-Visit: e")]) == [0, 1, 2])
        let poll = SentRequests(requests: recorded).session()
        #expect(try self.indexes(poll, [self.get("X-Visit: b"), self.get("X-Visit: b"), self.get("X-Visit: a")]) == [1, 2, 0])
    }

    @Test func fieldsThatOneOfTheTwoLacksDoNotCount() throws {
        let recorded = [self.get(answer: "one"), self.get("A: 1", "B: 1", "C: 1", answer: "two")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get("A: 1"), self.get()]) == [1, 0])
    }

    @Test(arguments: [false, true]) func theBestOfManyIsFound(isDecided: Bool) throws {
        let lines = (0..<600).map { ["User-Agent: a", isDecided ? "Accept: \($0)" : "X-Player: \($0)", "X-Request-Id: \($0)"] }
        let recorded = lines.enumerated().map { Request(method: "GET", lines: $1, answer: "\($0)") }
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [recorded[599], recorded[300], recorded[0], recorded[450]]) == [599, 300, 0, 450])
        #expect(try self.indexes(session, [self.get("Accept: other")]) == [isDecided ? nil : 1])
    }

    @Test func placeholderInTheCredentialsOfAUserIsFound() throws {
        let fields = ["YTp7e3Bhc3N3b3JkOjF9fQ==", "YTp7e3Bhc3N3b3JkOjJ9fQ=="].map { self.get("Authorization: Basic \($0)", answer: $0) }
        let session = SentRequests(requests: fields).session(redaction: LiveRedactor(Redactor()))
        #expect(try self.indexes(session, [fields[1], fields[0]]) == [1, 0])
    }

    @Test func wholeExchangesComeBeforeThoseThatTheClientLeft() throws {
        let recorded = [self.left("User-Agent: b", answer: "par"), self.get(answer: "one")]
        let session = SentRequests(requests: recorded).session()
        let first = try self.indexes(session, [self.get("User-Agent: b"), self.get(), self.get()])
        #expect(first == [1, 1, nil])
    }

    /// A client that left would have got its own data.
    @Test(arguments: ["Authorization: Bearer {{authorization:1}}", "Cookie: sid={{cookie:1}}", "X-Y: z"])
    func anExchangeThatTheClientLeftIsNotAnsweredWithAnothersData(line: String) throws {
        for recorded in [
            [self.left(answer: "par"), self.get(line, answer: "one")], [self.get(line, answer: "one"), self.left(answer: "par")],
        ] {
            let own = recorded[0].lines.isEmpty ? 0 : 1
            let session = SentRequests(requests: recorded).session()
            #expect(try self.indexes(session, [self.get(), self.get(line)]) == [own, 1 - own])
        }
    }

    @Test func aSecondAnswerToARequestThatChangesSomethingIsReported() throws {
        func post(_ outcome: Outcome = .complete) -> Request { Request(lines: [], body: "x", answer: "1", outcome: outcome) }
        let session = SentRequests(requests: [post(.cut(Cut(by: .client, reason: "the client left"))), post()]).session()
        #expect(try self.indexes(session, [post(), post()]) == [1, 1])
        #expect(session.verdict().computedAnswers.first?.hasSuffix("exchange 2 in place of exchange 1, which its client left") == true)
    }

    /// A replay with the recorded times gives this client the same reason to leave.
    @Test func anExchangeThatTheClientLeftKeepsItsTurnIfTheReplayTakesAsLong() throws {
        let recorded = [self.left(answer: "par"), self.get(answer: "one"), self.left(answer: "on"), self.get(answer: "two")]
        let session = SentRequests(requests: recorded).session(keepsLeft: true)
        #expect(try self.indexes(session, recorded) == [0, 1, 2, 3])
        #expect(session.verdict().computed == 0)
    }

    @Test func anExchangeThatTheClientLeftBeforeAWholeOneIsAnsweredByThat() throws {
        let recorded = [
            self.left(answer: "par"), self.left(answer: ""), self.get(answer: "whole"), self.get(answer: "later"), self.left(answer: "la"),
        ]
        let session = SentRequests(requests: recorded).session()
        let answers = try self.indexes(session, Array(repeating: self.get(), count: 6))
        #expect(answers == [2, 2, 2, 3, 4, nil])
        let verdict = session.verdict()
        #expect(verdict.hits == 5 && verdict.repeatedHits == 0 && verdict.unused.isEmpty && verdict.misses == 1)
        for _ in 0..<2 { session.giveBack(2, problem: "the client left") }
        #expect(session.verdict().hits == 5 && session.verdict().unused.isEmpty && session.verdict().unserved == 0)
    }

    /// An effect that runs twice sends two requests at once. Which of them comes first is chance, in a recording and in a replay.
    @Test(arguments: [true, false]) func aRequestIsAnsweredByAWholeExchangeThatRanAtTheSameTime(wholeIsFirst: Bool) throws {
        var (whole, left) = (self.get(answer: "whole"), self.left(answer: ""))
        (whole.started, whole.total) = (wholeIsFirst ? 0 : 10, 500)
        (left.started, left.total) = (wholeIsFirst ? 10 : 0, 100)
        let session = SentRequests(requests: wholeIsFirst ? [whole, left] : [left, whole]).session()
        let index = wholeIsFirst ? 0 : 1
        #expect(try self.indexes(session, [self.get(), self.get(), self.get()]) == [index, index, nil])
        #expect(session.verdict().hits == 2 && session.verdict().unused.isEmpty)
    }

    /// It had ended before, so the client asked again.
    @Test func aRequestIsNotAnsweredByAWholeExchangeThatHadEnded() throws {
        var (whole, left) = (self.get(answer: "whole"), self.left(answer: ""))
        (whole.started, whole.total) = (0, 50)
        (left.started, left.total) = (10, 100)
        #expect(try self.indexes(SentRequests(requests: [whole, left]).session(), [self.get(), self.get()]) == [0, 1])
    }

    /// One of two equal requests leaves, and the other one waits for more of the exchange that its recorded client left.
    @Test func theClientThatStaysGetsTheWholeExchange() throws {
        let session = SentRequests(requests: [self.get(answer: "whole"), self.left(answer: "")]).session(keepsLeft: true)
        #expect(try self.indexes(session, [self.get(), self.get()]) == [0, 1])
        #expect(session.wholeInstead(ofLeft: 1) == nil)
        session.giveBack(0, problem: "the client left")
        #expect(session.verdict().unserved == 1)
        #expect(session.wholeInstead(ofLeft: 1) == 0 && session.wholeInstead(ofLeft: 1) == nil)
        #expect(session.verdict().hits == 2 && session.verdict().unserved == 0 && session.verdict().unused.isEmpty)
    }

    @Test func anAnswerIsNeverOfTheFutureOrThePast() throws {
        let recorded = [self.left(answer: ""), self.get(answer: "[a]"), self.get(answer: "[a,b]")]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.indexes(session, [self.get(), self.get(), self.get()]) == [1, 1, 2])
    }

    @Test func placeholderPrefersTheExchangeWithItsNumber() throws {
        let urls = (1...4).map { Request(method: "GET", url: "http://a.test/img?token={{token:\($0)}}", answer: "\($0)") }
        let session = SentRequests(requests: urls).session(redaction: LiveRedactor(Redactor()))
        #expect(try self.indexes(session, [urls[2], urls[0], urls[3], urls[1]]) == [2, 0, 3, 1])
        let encoded = Request(method: "GET", url: "http://a.test/img?token=%7B%7Btoken:2%7D%7D")
        #expect(try self.indexes(SentRequests(requests: urls).session(redaction: LiveRedactor(Redactor())), [encoded]) == [1])
        let fields = (1...3).map { self.get("Authorization: Bearer {{authorization:\($0)}}", answer: "\($0)") }
        let inFields = SentRequests(requests: fields).session(redaction: LiveRedactor(Redactor()))
        #expect(try self.indexes(inFields, [fields[2], fields[0], fields[1]]) == [2, 0, 1])
        let bodies = (1...3).map { Request(lines: MatchFixture.json, body: "{\"token\":\"{{token:\($0)}}\"}", answer: "\($0)") }
        let inBodies = SentRequests(requests: bodies).session(redaction: LiveRedactor(Redactor()))
        #expect(try self.indexes(inBodies, [bodies[2], bodies[0], bodies[1]]) == [2, 0, 1])
    }

    /// A transfer between two secret accounts, and its reverse, wherever a client names them.
    @Test func placeholdersInOtherPlacesAreOtherRequests() throws {
        func reversed(_ request: (_ from: Int, _ to: Int) -> Request, _ place: Comment) throws {
            let recorded = [request(1, 2), request(2, 1), request(1, 1)]
            for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]] {
                let session = SentRequests(requests: recorded).session(redaction: LiveRedactor(Redactor()))
                #expect(try self.indexes(session, order.map { recorded[$0] }) == order, place)
            }
        }
        func post(_ lines: [String], _ body: String) -> Request { Request(lines: lines, body: body, answer: body) }
        let form = ["Content-Type: application/x-www-form-urlencoded"]
        try reversed({ post(MatchFixture.json, "{\"token\":\"{{token:\($0)}}\",\"secret\":\"{{token:\($1)}}\"}") }, "JSON")
        try reversed({ post(MatchFixture.json, "{\"tokens\":[\"{{token:\($0)}}\",\"{{token:\($1)}}\"]}") }, "an array")
        try reversed({ post(form, "token=%7B%7Btoken:\($0)%7D%7D&secret={{token:\($1)}}") }, "a form")
        try reversed({ post(["Content-Type: text/xml"], "<a><token>{{token:\($0)}}</token><secret>{{token:\($1)}}</secret></a>") }, "XML")
        try reversed({ self.get("X-Api-Key: {{token:\($0)}}", "Cookie: token={{token:\($1)}}", answer: "\($0) \($1)") }, "fields")
        try reversed({ Request(method: "GET", url: "http://a.test/{{token:\($0)}}/{{token:\($1)}}", answer: "\($0) \($1)") }, "a path")
        try reversed(
            { Request(method: "GET", url: "http://a.test/?token={{token:\($0)}}&secret={{token:\($1)}}", answer: "\($0) \($1)") }, "a query"
        )
    }

    @Test func membersInAnotherOrderAreTheSameRequest() throws {
        func post(_ body: String) -> Request { Request(lines: MatchFixture.json, body: body, answer: body) }
        let recorded = [
            post("{\"token\":\"{{token:1}}\",\"secret\":\"{{token:2}}\"}"), post("{\"token\":\"{{token:2}}\",\"secret\":\"{{token:1}}\"}"),
        ]
        let live = [
            post("{ \"secret\" : \"{{token:1}}\", \"token\" : \"{{token:2}}\" }"),
            post("{\n\"secret\":\"{{token:2}}\",\"token\":\"{{token:1}}\"}"),
        ]
        let session = SentRequests(requests: recorded).session(redaction: LiveRedactor(Redactor()))
        #expect(try self.indexes(session, live) == [1, 0])
    }

    /// The spellings of clients for a value that they received: escaped twice, in capitals, compressed.
    @Test func aPlaceholderIsFoundInEverySpellingThatAClientMakesOfIt() throws {
        func answers(_ recorded: [Request], _ live: [Request]) throws -> [Int?] {
            try self.indexes(SentRequests(requests: recorded).session(redaction: LiveRedactor(Redactor())), live)
        }
        func nested(_ token: String) -> Request {
            Request(method: "GET", url: "http://a.test/login?next=%2Fa%3Fb%3D%252Fc%253Ftoken%253D\(token)", answer: token)
        }
        let urls = (1...3).map { nested("%257B%257Btoken%253A\($0)%257D%257D") }
        #expect(try answers(urls, [urls[2], urls[0], urls[1]]) == [2, 0, 1])
        let escaped = { (number: Int) in "{{token:\(number)}}".utf8.map { "%" + String($0, radix: 16) }.joined() }
        func token(_ text: String, _ answer: String) -> Request {
            Request(method: "GET", url: "http://a.test/img?token=\(text)", answer: answer)
        }
        let recorded = (1...3).map { token("{{token:\($0)}}", "\($0)") }
        #expect(try answers(recorded, [token(escaped(3), ""), token(escaped(1), "")]) == [2, 0])
        func wide(_ number: Int) -> Request {
            let text = "{\"token\":\"{{token:\(number)}}\"}".utf8.flatMap { [$0, UInt8(0)] }
            return Request(lines: ["Content-Type: text/plain; charset=utf-16le"], binary: text, answer: "\(number)")
        }
        let texts = (1...3).map(wide)
        #expect(try answers(texts, [wide(3), wide(1), wide(2)]) == [2, 0, 1])
        #expect(try answers(recorded, [token("{{TOKEN:3}}", ""), token("{{TOKEN:1}}", "")]) == [2, 0])
        let lines = MatchFixture.json + ["Content-Encoding: gzip"]
        let bodies = (1...3).map { number in
            let text = "{\"token\":\"{{token:\(number)}}\"}"
            return Request(lines: lines, body: text, binary: RedactionFixtures.gzip(Array(text.utf8)), answer: "\(number)")
        }
        #expect(try answers(bodies, [bodies[2], bodies[0], bodies[1]]) == [2, 0, 1])
    }

    @Test func unknownPlaceholderKeepsTheOrder() throws {
        let urls = (1...2).map { Request(method: "GET", url: "http://a.test/img?token={{token:\($0)}}", answer: "\($0)") }
        let session = SentRequests(requests: urls).session(redaction: LiveRedactor(Redactor()))
        let live = Request(method: "GET", url: "http://a.test/img?token={{token:9}}")
        #expect(try self.indexes(session, [live, live]) == [0, 1])
    }

    /// A client that retries closes a refusal without reading it, and one that follows a redirection may as well.
    @Test(arguments: [301, 307, 401, 404, 429, 500, 529])
    func aRefusalThatItsClientDidNotReadKeepsItsTurn(status: Int) throws {
        let unread = Request(method: "GET", status: status, outcome: .cut(Cut(by: .client, reason: "the client left")))
        let session = SentRequests(requests: [unread, self.get(answer: "done")]).session()
        #expect(try self.indexes(session, [self.get(), self.get()]) == [0, 1])
    }

    // MARK: Any order

    private func randomRequests(_ random: inout SeededGenerator, count: Int) -> [Request] {
        (0..<count).map { number in
            var lines = ["X-Request-Id: \(random.next())", "User-Agent: \(["a", "b"].randomElement(using: &random) ?? "")"]
            for (name, values) in [
                ("Accept", ["text/html", "application/json"]), ("Accept-Language", ["en", "de", "fr"]), ("X-Amz-Target", ["A", "B"]),
                ("Depth", ["0", "1"]),
            ] where Bool.random(using: &random) {
                lines.append("\(name): \(values.randomElement(using: &random) ?? "")")
            }
            let isPart = Int.random(in: 0..<3, using: &random) == 0
            if isPart { lines.append("Range: bytes=\(Int.random(in: 0..<4, using: &random))-9") }
            lines.shuffle(using: &random)
            return Request(method: "GET", lines: lines, status: isPart ? 206 : 200, answer: "\(number)")
        }
    }

    /// The lines that decide, without those that change with every request.
    private func selecting(_ request: Request) -> Set<String> {
        Set(request.lines.filter { !$0.hasPrefix("X-Request-Id") && !$0.hasPrefix("User-Agent") })
    }

    @Test(arguments: 0..<60)
    func anyOrderGivesEachRequestItsOwnAnswer(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let recorded = self.randomRequests(&random, count: Int.random(in: 2...40, using: &random))
        let session = SentRequests(requests: recorded).session()
        var live = recorded
        for index in live.indices {
            live[index].lines = live[index].lines.filter { !$0.hasPrefix("X-Request-Id") } + ["X-Request-Id: new \(index)"]
        }
        live.shuffle(using: &random)
        for request in live {
            guard case .replay(let index, _) = try session.send(request) else {
                Issue.record("a miss for \(request.lines)")
                continue
            }
            #expect(self.selecting(recorded[index]) == self.selecting(request))
        }
        #expect(session.verdict().unused.isEmpty)
    }

    @Test(arguments: 0..<8)
    func anyConcurrencyGivesEachRequestItsOwnAnswer(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let recorded = self.randomRequests(&random, count: 64)
        let session = SentRequests(requests: recorded).session()
        let answers = try await withThrowingTaskGroup(of: (Int, Int?).self) { group in
            for (number, request) in recorded.enumerated() {
                group.addTask {
                    guard case .replay(let index, _) = try session.send(request) else { return (number, nil) }
                    return (number, index)
                }
            }
            return try await group.reduce(into: [(Int, Int?)]()) { $0.append($1) }
        }
        #expect(Set(answers.compactMap(\.1)).count == recorded.count)
        for (number, index) in answers {
            #expect(index.map { self.selecting(recorded[$0]) } == self.selecting(recorded[number]))
        }
    }

    /// Placeholders identify the user, even after the exchanges of this user are used up.
    @Test(arguments: [Repetition.never, .last, .cycle]) func noOtherUsersAnswerFollows(repetition: Repetition) throws {
        let urls = (1...4).map { Request(method: "GET", url: "http://a.test/img?token={{token:\($0)}}", answer: "\($0)") }
        let fields = (1...4).map { self.get("Authorization: Bearer {{authorization:\($0)}}", answer: "\($0)") }
        for requests in [urls, fields] {
            let session = SentRequests(requests: requests).session(repetition: repetition, redaction: LiveRedactor(Redactor()))
            let again = repetition == .never ? nil : 0
            #expect(try self.indexes(session, [requests[0], requests[0], requests[1], requests[2]]) == [0, again, 1, 2])
        }
    }

    /// A used exchange of the same client is repeated before one of another client is used.
    @Test(arguments: [Repetition.last, .cycle]) func repeatedAnswersAreTheSameClients(repetition: Repetition) throws {
        let users = ["alice", "bobby", "carol"].map { self.get("X-Name: \($0)", answer: $0) } + [self.get(answer: "nobody")]
        let session = SentRequests(requests: users).session(repetition: repetition)
        #expect(try self.indexes(session, [users[1], users[1], users[3], users[3], users[0], users[1]]) == [1, 1, 3, 3, 0, 1])
    }

    @Test func aUsedUpPreflightIsAnsweredAsRecorded() throws {
        func preflight(_ method: String, _ status: Int) -> Request {
            Request(
                method: "OPTIONS", lines: ["Origin: http://a.test", "Access-Control-Request-Method: \(method)"], status: status,
                answer: "\(method) \(status)")
        }
        let denied = SentRequests(requests: [preflight("PUT", 403)]).session()
        #expect(try self.indexes(denied, [preflight("PUT", 403), preflight("PUT", 403)]) == [0, 0])
        let two = SentRequests(requests: [preflight("PUT", 403), preflight("GET", 204)]).session()
        let asked = [preflight("GET", 0), preflight("GET", 0), preflight("PUT", 0), preflight("PUT", 0)]
        #expect(try self.indexes(two, asked) == [1, 1, 0, 0])
    }

    /// A browser that gets the recorded answer would refuse the request itself, and no miss would be seen.
    @Test(arguments: [["DELETE", "x-a"], ["PUT", "x-a, x-b"], ["PUT", "x-b"]])
    func aPreflightForAnotherRequestIsNotAnsweredAsRecorded(_ asked: [String]) throws {
        func preflight(_ method: String, _ names: String) -> Request {
            Request(
                method: "OPTIONS",
                lines: ["Origin: http://a.test", "Access-Control-Request-Method: \(method)", "Access-Control-Request-Headers: \(names)"],
                status: 204, answer: method)
        }
        let session = SentRequests(requests: [preflight("PUT", "x-a")]).session()
        #expect(try self.indexes(session, [preflight(asked[0], asked[1]), preflight("PUT", "x-a")]) == [nil, 0])
    }
    /// The numbers that replace secrets in JSON contain the secrets' numbers.
    @Test func numbersTellRequestsApart() throws {
        let requests = (1...3).map { number in
            Request(
                method: "GET", url: "http://a.test/me?t={{token:\(number)}}", lines: [], answer: "user \(number)")
        }
        let session = SentRequests(requests: requests).session(redaction: LiveRedactor(Redactor()))
        let live = [3, 1, 2].map { Request(method: "GET", url: "http://a.test/me?t=200290000\($0)", lines: []) }
        #expect(try self.indexes(session, live) == [2, 0, 1])
    }

    /// A client writes such a number into base64 or hex, where the cassette has a placeholder.
    @Test(arguments: CodedSecretsTests.Spelling.allCases, ["", ":", "x:", "xyz:", #"{"t": ""#])
    func codedNumbersTellRequestsApart(spelling: CodedSecretsTests.Spelling, lead: String) throws {
        func get(_ token: String, _ answer: String = "") -> Request {
            let lines = ["X-Note: v=" + spelling.text("\(lead)\(token)\"}"), "Authorization: Basic " + spelling.text("\(lead)\(token):")]
            return Request(method: "GET", url: "http://a.test/me", lines: lines, answer: answer)
        }
        func post(_ token: String, _ answer: String = "") -> Request {
            Request(
                url: "http://a.test/me", lines: ["Content-Type: application/json"],
                body: #"{"n": 1, "q": "\#(spelling.text("\(lead)\(token)\"}"))"}"#, answer: answer)
        }
        for request in [get, post] {
            let requests = (1...3).map { request("{{token:\($0)}}", "user \($0)") }
            let session = SentRequests(requests: requests).session(redaction: LiveRedactor(Redactor()))
            let live = [3, 1, 2].map { request("200290000\($0)", "") }
            #expect(try self.indexes(session, live) == [2, 0, 1])
        }
    }

    @Test func theCodingOfARequestIsCompared() throws {
        let coded = Request(lines: ["Content-Encoding: gzip"], body: "a", status: 415, answer: "no")
        let plain = Request(body: "a", answer: "yes")
        let session = SentRequests(requests: [coded, plain]).session()
        #expect(try self.indexes(session, [plain, coded]) == [1, 0])
    }

    // MARK: Downloads in pieces

    private let pieces = [
        (lines: [], status: 200, answering: ["Content-Length: 10"], answer: "0123", isLeft: true),
        (lines: ["Range: bytes=4-9"], status: 206, answering: ["Content-Range: bytes 4-9/10"], answer: "45", isLeft: true),
        (lines: ["Range: bytes=6-9"], status: 206, answering: ["Content-Range: bytes 6-9/10"], answer: "6789", isLeft: false),
    ]

    /// - Parameter pause: milliseconds from the start of each piece to that of the next; each takes 10.
    private func pieces(tag: String, pause: Int = 1) -> [Request] {
        self.pieces.enumerated().map { number, piece in
            Request(
                method: "GET", lines: piece.lines, status: piece.status,
                answerLines: piece.answering + ["ETag: \(tag)", "Content-Type: application/octet-stream"], answer: piece.answer,
                outcome: piece.isLeft ? .cut(Cut(by: .client, reason: "the client left")) : .complete,
                started: number * pause, total: 10)
        }
    }

    @Test func anAnswerThatWasLeftGoesOnWithOtherParts() throws {
        let requests = self.pieces(tag: "\"a\"")
        let session = SentRequests(requests: requests).session()
        var sources: [[Range<Int>]] = []
        for (index, request) in requests.enumerated() {
            guard case .replay(let answering, let form) = try session.send(request) else { throw CassetteError(.damaged, "refused") }
            #expect(answering == index)
            sources.append(form.ranges?.ranges ?? [])
        }
        #expect(sources == [[0..<10], [4..<10], []])
        #expect(session.verdict().computed == 2)
    }

    /// Its download is complete before the last part has been answered.
    @Test func aPartWhoseBytesTheClientHasIsServedWhenItLeaves() throws {
        let requests = self.pieces(tag: "\"a\"")
        let session = SentRequests(requests: requests).session()
        for request in requests { _ = try session.send(request) }
        session.giveBack(2, problem: "the client left")
        #expect(session.verdict().unserved == 0 && session.verdict().unused.isEmpty)
        let other = SentRequests(requests: [self.get(answer: "a")]).session()
        _ = try other.send(self.get())
        other.giveBack(0, problem: "the client left")
        #expect(other.verdict().unserved == 1)
    }

    /// A client that asks for the rest afterwards paused, or resumed after a break.
    @Test func aDownloadThatWasResumedLaterIsLeftAgain() throws {
        let requests = self.pieces(tag: "\"a\"", pause: 20)
        let session = SentRequests(requests: requests).session()
        for request in requests {
            guard case .replay(_, let form) = try session.send(request) else { throw CassetteError(.damaged, "refused") }
            #expect(form.ranges == nil)
        }
    }

    /// A weak validator does not show that the parts are of one representation.
    @Test func partsOfAnotherRepresentationAreNotUsed() throws {
        let requests = self.pieces(tag: "W/\"a\"")
        let session = SentRequests(requests: requests).session()
        guard case .replay(0, let form) = try session.send(requests[0]) else { throw CassetteError(.damaged, "refused") }
        #expect(form.ranges == nil)
    }

    /// Whoever gave up waiting for a whole representation is not given it.
    @Test func aClientThatLeftBeforeItAskedForPartsGetsNoMore() throws {
        let whole = Request(
            method: "GET", lines: [], answerLines: ["ETag: \"a\"", "Content-Length: 10"], answer: "0123456789")
        var left = whole
        (left.answer, left.outcome) = ("0123", .cut(Cut(by: .client, reason: "the client left")))
        let session = SentRequests(requests: [left, whole]).session()
        #expect(session.verdict().computed == 0)
        guard case .replay(_, let form) = try session.send(left) else { throw CassetteError(.damaged, "refused") }
        #expect(form.ranges == nil)
    }

    /// The first download was cancelled, and the browser's cache asked for the rest: a byte to see whether it is the same, then all of it.
    private func resumed(_ answer: String, tag: String = "\"a\"") -> [Request] {
        let isWhole = answer.utf8.count == 10
        func rest(_ range: Range<Int>, _ text: String) -> Request {
            Request(
                method: "GET", lines: ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)", "If-Range: \(tag)"], status: 206,
                answerLines: ["ETag: \(tag)", "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/10"], answer: text)
        }
        return [
            Request(
                method: "GET", lines: [], answerLines: ["ETag: \(tag)", "Content-Length: 10"], answer: answer,
                outcome: isWhole ? .complete : .cut(Cut(by: .client, reason: "the client left")), total: 10),
            rest(4..<5, "4"), rest(4..<10, "456789"),
        ]
    }

    @Test func aClientThatAsksForTheWholeInPlaceOfTheRestGetsIt() throws {
        let requests = self.resumed("0123456789")
        let session = SentRequests(requests: requests).session()
        #expect(try self.indexes(session, [requests[0], requests[0]]) == [0, 0])
        #expect(session.verdict().unused.isEmpty)
        #expect(session.verdict().hits == 2)
        let computed = "GET http://a.test/: the whole, in place of 2 exchanges with the rest, from exchange 1"
        #expect(session.verdict().computedAnswers == [computed])
        // The rest has been used up as well.
        #expect(try session.send(requests[0]).replayed == nil)
    }

    @Test func theWholeIsMadeOfTheBeginningThatTheClientGotAndTheRest() throws {
        let requests = self.resumed("0123")
        let session = SentRequests(requests: requests).session()
        #expect(try session.send(requests[0]).replayed == 0)
        guard case .replay(0, let form) = try session.send(requests[0]) else { throw CassetteError(.damaged, "refused") }
        #expect(form.ranges?.isRepresentation == true)
        #expect(form.ranges?.ranges == [0..<10])
        #expect(form.ranges?.sources.map(\.index) == [0, 1, 2])
        #expect(session.verdict().unused.isEmpty)
    }

    @Test(arguments: ["W/\"a\"", "\"a\""]) func theWholeIsSentAgainOnlyInPlaceOfARestOfTheSameRepresentation(tag: String) throws {
        var requests = self.resumed("0123456789", tag: tag)
        if tag == "\"a\"" { for index in 1...2 { requests[index].lines.removeLast() } }
        let session = SentRequests(requests: requests).session()
        #expect(try session.send(requests[0]).replayed == 0)
        #expect(try session.send(requests[0]).replayed == nil)
        #expect(session.verdict().unused == [1, 2])
    }

    // MARK: Values that rules ignore

    private static let json = "Content-Type: application/json"

    /// Each client gets its own answer, in any order.
    @Test(arguments: [
        (["json:/user"], #"{"q":1,"user":"alice"}"#, #"{"q":1,"user":"bob"}"#),
        (["json:/**/id"], #"{"id":"call_7aaaaXq2"}"#, #"{"id":"call_7bbbbXq2"}"#),
    ])
    func theClientsOwnValueBreaksTies(ignored: [String], one: String, other: String) throws {
        let rules = try MatchRules(ignore: ignored)
        func post(_ body: String, _ answer: String = "") -> Request { Request(lines: [Self.json], body: body, answer: answer) }
        let recorded = [post(one, "1"), post(other, "2"), post(one, "3"), post(other, "4")]
        #expect(
            try self.indexes(SentRequests(requests: recorded).session(rules: rules), [post(other), post(one), post(other), post(one)]) == [
                1, 0, 3, 2,
            ])
        // Without a value of its own, in recorded order.
        let strange = post(one.replacing("alice", with: "carol").replacing("aaaa", with: "cccc"))
        #expect(try self.indexes(SentRequests(requests: recorded).session(rules: rules), [strange, strange, post(one)]) == [0, 1, 2])
    }

    @Test func anItemOfTheQueryBreaksTies() throws {
        let rules = try MatchRules(ignore: ["query:state"])
        func get(_ state: String) -> Request { Request(method: "GET", url: "http://a.test/?state=\(state)", answer: state) }
        let session = SentRequests(requests: [get("open"), get("closed")]).session(rules: rules)
        #expect(try self.indexes(session, [get("closed"), get("open"), get("open")]) == [1, 0, nil])
    }

    /// Ids that begin at 1 in each run say nothing.
    @Test(arguments: ["1", "2", "\"1\"", "\"req-1\""]) func countersDoNotBreakTies(first: String) throws {
        let rules = try MatchRules(ignore: ["json:/id"])
        func post(_ id: String) -> Request { Request(lines: [Self.json], body: "{\"id\":\(id)}", answer: id) }
        let second = first.replacing("2", with: "3").replacing("1", with: "2")
        let session = SentRequests(requests: [post(first), post(second)]).session(rules: rules)
        #expect(try self.indexes(session, [post(second), post(first)]) == [0, 1])
    }
}
