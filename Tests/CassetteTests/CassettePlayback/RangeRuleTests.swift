import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import TapeBytes

@Suite struct RangeRequestTests {
    @Test(arguments: [
        ("bytes=0-4", [0..<5]), ("bytes=5-", [5..<10]), ("bytes=-3", [7..<10]), ("bytes=0-99", [0..<10]), ("bytes=-99", [0..<10]),
        ("bytes=0-0, 2-3,-1", [0..<1, 2..<4, 9..<10]), ("Bytes=1-1", [1..<2]), ("bytes=10-", []), ("bytes=-0", []),
        ("bytes=20-30,1-2", [1..<3]),
    ])
    func rangesAreThoseOfTheRFC(value: String, ranges: [Range<Int>]) {
        #expect(RangeRequest(value)?.ranges(of: 10) == ranges)
    }

    @Test(arguments: [
        "items=0-4", "bytes=4-2", "bytes=a-b", "bytes=", "bytes", "bytes=-", "bytes=1-2-3", "bytes=99999999999999999999-", "bytes=0x1-2",
    ])
    func otherFieldsAreIgnored(value: String) {
        #expect(RangeRequest(value) == nil)
    }

    @Test func floodsOfRangesAreIgnored() {
        #expect(RangeRequest("bytes=" + Array(repeating: "0-0", count: RangeRequest.limit + 1).joined(separator: ",")) == nil)
        #expect(RangeRequest("bytes=0-,0-,0-")?.ranges(of: 10) == nil)
    }
}

@Suite struct RangeRuleTests {
    private typealias Request = SentRequests.Request

    private func whole(_ text: String = "0123456789", tag: String = "\"a\"", _ lines: String...) -> Request {
        Request(method: "GET", lines: lines, answerLines: ["ETag: \(tag)", "Last-Modified: then", "Date: later"], answer: text)
    }

    private func part(_ range: Range<Int>, tag: String = "\"a\"") -> Request {
        let text = "0123456789".utf8.dropFirst(range.lowerBound).prefix(range.count)
        return Request(
            method: "GET", lines: ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"], status: 206,
            answerLines: ["ETag: \(tag)", "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/10"],
            answer: String(decoding: Array(text), as: UTF8.self))
    }

    private func asking(_ range: String, _ lines: String...) -> Request { Request(method: "GET", lines: ["Range: \(range)"] + lines) }

    private func forms(_ session: CassetteSession, _ requests: [Request]) throws -> [AnswerForm?] {
        try requests.map { request in
            guard case .replay(_, let form) = try session.send(request) else { return nil }
            return form
        }
    }

    private func ranges(_ ranges: [Range<Int>], from sources: [(Int, Range<Int>)]) -> AnswerForm {
        AnswerForm(
            ranges: ComputedRanges(length: 10, ranges: ranges, sources: sources.map { ComputedRanges.Source(index: $0.0, bytes: $0.1) }))
    }

    @Test func rangesOfAWholeAnswerAreComputedAsOftenAsTheyAreAsked() throws {
        let session = SentRequests(requests: [self.whole()]).session()
        let source = [(0, 0..<10)]
        #expect(
            try self.forms(
                session, [self.asking("bytes=0-4"), self.asking("bytes=5-"), self.asking("bytes=0-4"), self.asking("bytes=20-")])
                == [
                    self.ranges([0..<5], from: source), self.ranges([5..<10], from: source), self.ranges([0..<5], from: source),
                    self.ranges([], from: source),
                ])
        let verdict = session.verdict()
        #expect(verdict.hits == 4 && verdict.computed == 4 && verdict.unused.isEmpty && verdict.repeatedHits == 0 && verdict.flaws.isEmpty)
        #expect(verdict.computedAnswers.first == "GET http://a.test/: bytes=0-4 from exchange 1")
    }

    @Test func aRecordedPartThatIsUsedUpIsComputed() throws {
        let session = SentRequests(requests: [self.whole(), self.part(0..<5)]).session()
        let asked = Array(repeating: self.asking("bytes=0-4"), count: 3)
        #expect(try self.forms(session, asked).map { $0 != nil } == [true, true, true])
        #expect(session.verdict().misses == 0)
        let exact = SentRequests(requests: [self.whole(), self.part(0..<5)]).session(ranges: .exact)
        #expect(try self.forms(exact, Array(asked.prefix(2))).map { $0 != nil } == [true, false])
    }

    @Test func exactRangesAreMisses() throws {
        let session = SentRequests(requests: [self.whole()]).session(ranges: .exact)
        #expect(try self.forms(session, [self.asking("bytes=0-4")]) == [nil])
        // With the range ignored, parts of other requests would answer as well.
        #expect(session.verdict().reports.first?.ignorablePlaces == [])
    }

    @Test func partsThatCoverTheRangeAreJoined() throws {
        let session = SentRequests(requests: [self.part(5..<10), self.part(0..<5)]).session()
        let both = [(1, 0..<5), (0, 5..<10)]
        #expect(
            try self.forms(session, [self.asking("bytes=3-6"), self.asking("bytes=0-1")])
                == [self.ranges([3..<7], from: both), self.ranges([0..<2], from: [(1, 0..<5)])])
    }

    @Test(arguments: [("\"a\"", "\"b\""), ("W/\"a\"", "W/\"a\"")]) func partsOfOtherVersionsAreNotJoined(first: String, second: String)
        throws
    {
        let session = SentRequests(requests: [self.part(0..<5, tag: first), self.part(5..<10, tag: second)]).session()
        #expect(try self.forms(session, [self.asking("bytes=3-6")]) == [nil])
    }

    @Test(arguments: [("Date: later", true), ("Date: then", false), ("Age: 1", false)])
    func aDateIsAValidatorIfTheAnswerWasSentLater(line: String, isStrong: Bool) throws {
        func part(_ range: Range<Int>) -> Request {
            Request(
                method: "GET", lines: ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"], status: 206,
                answerLines: ["Last-Modified: then", line, "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/10"],
                answer: String(decoding: Array("0123456789".utf8.dropFirst(range.lowerBound).prefix(range.count)), as: UTF8.self))
        }
        let session = SentRequests(requests: [part(0..<5), part(5..<10)]).session()
        let joined = self.ranges([3..<7], from: [(0, 0..<5), (1, 5..<10)])
        #expect(try self.forms(session, [self.asking("bytes=3-6")]) == [isStrong ? joined : nil])
        let whole = Request(method: "GET", answerLines: ["Last-Modified: then", line], answer: "0123456789")
        let computed = self.ranges([3..<7], from: [(0, 0..<10)])
        #expect(
            try self.forms(SentRequests(requests: [whole]).session(), [self.asking("bytes=3-6", "If-Range: then")])
                == [isStrong ? computed : .recorded])
    }

    private func cut(_ request: Request, after count: Int) -> Request {
        var request = request
        request.answer = String(request.answer.prefix(count))
        request.outcome = .cut(Cut(by: .client, reason: "the client left"))
        return request
    }

    @Test func bytesBeforeTheClientDisconnectedCountAsAPart() throws {
        var whole = self.cut(self.whole(), after: 4)
        whole.answerLines.append("Content-Length: 10")
        let session = SentRequests(requests: [whole, self.cut(self.part(3..<10), after: 4), self.part(6..<10)]).session()
        let sources = [(0, 0..<4), (1, 3..<7), (2, 6..<10)]
        #expect(
            try self.forms(session, [self.asking("bytes=0-9"), self.asking("bytes=2-5")])
                == [self.ranges([0..<10], from: sources), self.ranges([2..<6], from: Array(sources[..<2]))])
    }

    @Test(arguments: ["a {{token:1}} b", "{{token:1}}"]) func aCutPartWithAPlaceholderIsNoSource(text: String) throws {
        var cut = self.cut(self.whole(text), after: text.utf8.count)
        cut.answerLines.append("Content-Length: 100")
        #expect(try self.forms(SentRequests(requests: [cut]).session(), [self.asking("bytes=2-4")]) == [nil])
    }

    @Test func severalRangeFieldsAreMalformed() throws {
        let session = SentRequests(requests: [self.whole()]).session()
        #expect(try self.forms(session, [self.asking("bytes=0-1", "Range: bytes=2-3")]) == [.recorded])
    }

    @Test func rangeThatIsNotCoveredIsAMiss() throws {
        let session = SentRequests(requests: [self.part(0..<3), self.part(5..<10)]).session()
        #expect(
            try self.forms(session, [self.asking("bytes=1-6"), self.asking("bytes=2-2")]) == [
                nil, self.ranges([2..<3], from: [(0, 0..<3)]),
            ])
    }

    @Test func recordedRangesComeBeforeComputedOnes() throws {
        let session = SentRequests(requests: [self.part(0..<5), self.whole()]).session()
        #expect(
            try self.forms(session, [self.asking("bytes=0-4"), self.asking("bytes=0-3"), self.whole()])
                == [.recorded, self.ranges([0..<4], from: [(1, 0..<10)]), .recorded])
        #expect(session.verdict().computed == 1)
    }

    /// A redacted body has another length than its recorded parts, which keep theirs.
    @Test func partsOfAnotherLayoutThanTheWholeAreComputedFromIt() throws {
        let recorded = [self.part(0..<5), self.whole("0123456789ab"), self.part(5..<10), self.part(5..<10, tag: "\"b\"")]
        let source = [ComputedRanges.Source(index: 1, bytes: 0..<12)]
        func computed(_ range: Range<Int>) -> AnswerForm {
            AnswerForm(ranges: ComputedRanges(length: 12, ranges: [range], sources: source))
        }
        let session = SentRequests(requests: [recorded[0], recorded[1], recorded[2]]).session()
        #expect(
            try self.forms(session, [recorded[0], recorded[1], recorded[2], self.asking("bytes=10-")])
                == [computed(0..<5), .recorded, computed(5..<10), computed(10..<12)])
        let exact = SentRequests(requests: [recorded[0], recorded[1]]).session(ranges: .exact)
        #expect(try self.forms(exact, [recorded[0]]) == [.recorded])
        let others = SentRequests(requests: [recorded[1], recorded[3]]).session()
        #expect(try self.forms(others, [recorded[3]]) == [.recorded])
    }

    private func sources(_ session: CassetteSession, _ requests: [Request]) throws -> [[Int]?] {
        try self.forms(session, requests).map { $0.map { $0.ranges?.sources.map(\.index) ?? [] } }
    }

    @Test func rangesComeFromTheWholeThatTheSameRequestGets() throws {
        let users = ["X-User: alice", "X-User: bobby", "User-Agent: b", "Cookie: sid={{cookie:1}}"]
        let recorded = [self.whole()] + users.map { self.whole("0123456789", tag: "\"a\"", $0) }
        let session = SentRequests(requests: recorded).session()
        let live = users.map { self.asking("bytes=0-4", $0) } + [self.asking("bytes=0-4")]
        #expect(try self.sources(session, live) == [[1], [2], [3], [4], [0]])
    }

    @Test func rangesComeFromTheWholeOfTheSamePlaceholder() throws {
        func url(_ number: Int) -> String { "http://a.test/?token={{token:\(number)}}" }
        var recorded = [self.whole(), self.whole(), self.whole()]
        for index in recorded.indices { recorded[index].url = url(index + 1) }
        var live = [self.asking("bytes=0-4"), self.asking("bytes=0-4")]
        (live[0].url, live[1].url) = (url(2), url(3))
        #expect(try self.sources(SentRequests(requests: recorded).session(redaction: LiveRedactor(Redactor())), live) == [[1], [2]])
    }

    /// Documents of two users may both have the entity tag "1".
    @Test func partsOfTwoUsersAreNotJoined() throws {
        func part(_ range: Range<Int>, _ user: String) -> Request {
            var part = self.part(range)
            part.lines.append(user)
            return part
        }
        let recorded = [part(0..<6, "X-User: alice"), part(5..<10, "X-User: bobby")]
        let session = SentRequests(requests: recorded).session()
        #expect(
            try self.sources(session, [self.asking("bytes=3-7", "X-User: alice"), self.asking("bytes=1-2", "X-User: alice")]) == [nil, [0]])
        let signed = [part(0..<6, "Authorization: AWS4 {{signature:1}}"), part(5..<10, "Authorization: AWS4 {{signature:2}}")]
        #expect(try self.sources(SentRequests(requests: signed).session(), [self.asking("bytes=3-7")]) == [[0, 1]])
    }

    /// Fields of two requesters, the first of which has none.
    private static let requesters = ["Authorization: Bearer {{authorization:1}}", "Cookie: sid={{cookie:1}}", "X-User: bobby", "X-Y: 2"]

    private func part(_ range: Range<Int>, tag: String, _ lines: [String]) -> Request {
        var part = self.part(range, tag: tag)
        part.lines += lines
        return part
    }

    @Test(arguments: requesters) func aPartOfAnotherRequesterDoesNotComeBeforeTheOwnWhole(line: String) throws {
        let recorded = [self.whole("abcdefghij", tag: "\"a\""), self.part(0..<5, tag: "\"b\"", [line])]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.sources(session, [self.asking("bytes=0-4"), self.asking("bytes=0-4", line)]) == [[0], []])
    }

    @Test(arguments: requesters) func theOwnPartsComeBeforeTheWholeOfAnotherRequester(line: String) throws {
        let recorded = [self.whole("abcdefghij", tag: "\"a\""), self.part(0..<5, tag: "\"b\"", [line])]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.sources(session, [self.asking("bytes=1-2", line), self.asking("bytes=1-7", line)]) == [[1], nil])
        #expect(try self.sources(session, [self.asking("bytes=1-7")]) == [[0]])
    }

    @Test(arguments: requesters) func partsOfTwoRequestersAreNotJoinedThoughTheirTagsAreEqual(line: String) throws {
        let recorded = [self.part(0..<5), self.part(5..<10, tag: "\"a\"", [line])]
        let session = SentRequests(requests: recorded).session()
        let live = [self.asking("bytes=3-7"), self.asking("bytes=3-7", line), self.asking("bytes=6-7", line), self.asking("bytes=1-2")]
        #expect(try self.sources(session, live) == [nil, nil, [1], [0]])
    }

    /// The secrets of a live client are others than those of the recording, so that nothing tells which of two users it is.
    @Test(arguments: ["Authorization: Bearer ", "Cookie: sid=", "X-Api-Key: "]) func aUserWhoCannotBeToldFromAnotherGetsNoRange(
        name: String
    ) throws {
        let users = (1...2).map { "\(name){{token:\($0)}}" }
        let live = self.asking("bytes=1-2", name + "{{token:9}}")
        let others = [self.whole("0123456789", tag: "\"1\"", users[0]), self.whole("abcdefghij", tag: "\"1\"", users[1])]
        #expect(try self.sources(SentRequests(requests: others).session(), [live]) == [nil])
        let equals = users.map { self.whole("0123456789", tag: "\"1\"", $0) }
        #expect(try self.sources(SentRequests(requests: equals).session(), [live]) == [[0]])
        let parts = [self.part(0..<5, tag: "\"1\"", [users[0]]), self.part(5..<10, tag: "\"1\"", [users[1]])]
        #expect(try self.sources(SentRequests(requests: parts).session(), [self.asking("bytes=3-7", name + "{{token:9}}")]) == [nil])
    }

    @Test func aPartComesFromTheCodingThatTheClientAsksFor() throws {
        var coded = self.part(0..<8, tag: "\"z\"", ["Accept-Encoding: gzip"])
        coded.answerLines.append("Content-Encoding: gzip")
        let session = SentRequests(requests: [self.part(0..<5), coded]).session()
        let live = [
            self.asking("bytes=1-2", "Accept-Encoding: gzip"), self.asking("bytes=1-2"), self.asking("bytes=6-7"),
            self.asking("bytes=0-7"),
        ]
        #expect(try self.sources(session, live) == [[1], [0], nil, nil])
        guard case .refuse(let report) = try session.send(live[3]) else { throw CassetteError(.damaged, "not refused") }
        #expect(report.ignorablePlaces.isEmpty && report.description.contains("accept-encoding"), "\(report.description)")
    }

    @Test func rangesAreOfTheVersionThatWasSentLast() throws {
        let versions = [self.whole("0123456789", tag: "\"a\""), self.whole("0123456789", tag: "\"b\"")]
        let session = SentRequests(requests: versions).session(repetition: .cycle)
        #expect(try self.sources(session, [self.whole(), self.whole(), self.asking("bytes=0-4")]) == [[], [], [1]])
        #expect(try self.sources(session, [self.whole(), self.asking("bytes=0-4"), self.asking("bytes=5-6")]) == [[], [0], [0]])
    }

    /// The ends of parts may cut a placeholder.
    @Test(arguments: ["\"a\"", "W/\"a\""]) func partsOfARedactedWholeAreComputedFromItAndUsedUp(tag: String) throws {
        let whole = self.whole("{{token:1}}!", tag: tag)
        var parts = [self.part(0..<5, tag: tag), self.part(5..<10, tag: tag)]
        for index in parts.indices {
            parts[index].answerLines = parts[index].answerLines.map { $0.replacing("/10", with: "/12") }
        }
        let session = SentRequests(requests: [whole] + parts).session()
        #expect(try self.sources(session, [whole, parts[0], parts[1]]) == [[], [0], [0]])
        #expect(session.verdict().flaws.isEmpty && session.verdict().computed == 0)
    }

    @Test func aWeakTagDoesNotJoinTheAnswersOfTwoUsers() throws {
        var part = self.part(0..<5, tag: "W/\"a\"")
        part.lines.append("X-User: alice")
        let session = SentRequests(requests: [self.whole("{{token:1}}!", tag: "W/\"a\"", "X-User: bobby"), part]).session()
        #expect(try self.forms(session, [part]) == [.recorded])
    }

    @Test(arguments: requesters) func aRecordedPartIsNotComputedFromTheWholeOfAnotherRequester(line: String) throws {
        let recorded = [self.whole("0123456789ab"), self.part(0..<5, tag: "\"a\"", [line])]
        let session = SentRequests(requests: recorded).session()
        #expect(try self.forms(session, [self.asking("bytes=0-4", line)]) == [.recorded])
    }

    @Test func conditionThatFailsGetsTheWholeAnswer() throws {
        let session = SentRequests(requests: [self.whole()]).session(repetition: .last)
        #expect(
            try self.forms(
                session,
                [
                    self.asking("bytes=0-4", "If-Range: \"b\""), self.asking("bytes=0-4", "If-Range: \"a\""),
                    self.asking("bytes=0-4", "If-Range: then"), self.asking("bytes=4-2"), self.asking("items=1-2"),
                ])
                == [
                    .recorded, self.ranges([0..<5], from: [(0, 0..<10)]), self.ranges([0..<5], from: [(0, 0..<10)]), .recorded, .recorded,
                ])
    }

    @Test func partsOfOneDownloadAreOfOneVersion() throws {
        let session = SentRequests(requests: [self.whole(), self.whole("abcdefghij", tag: "\"b\"")]).session()
        #expect(try self.forms(session, [self.whole(), self.asking("bytes=0-4")]).last == self.ranges([0..<5], from: [(0, 0..<10)]))
        #expect(try self.forms(session, [self.whole(), self.asking("bytes=0-4")]).last == self.ranges([0..<5], from: [(1, 0..<10)]))
    }

    @Test func cutAnswersAndOtherMethodsGiveNoRanges() throws {
        var cut = self.whole()
        cut.outcome = .cut(Cut(by: .origin, reason: "x"))
        #expect(try self.forms(SentRequests(requests: [cut]).session(), [self.asking("bytes=0-4")]) == [nil])
        var head = self.whole()
        head.method = "HEAD"
        var asked = self.asking("bytes=0-4")
        asked.method = "HEAD"
        #expect(try self.forms(SentRequests(requests: [head]).session(), [asked]) == [.recorded])
    }
}

@Suite struct AcceptedCodingsTests {
    @Test(arguments: [
        ("gzip, br", "gzip", true), ("gzip", "br", false), ("", "gzip", false), ("identity", "gzip", false), ("*", "zstd", true),
        ("*;q=0, gzip", "gzip", true), ("*;q=0", "gzip", false), ("gzip;q=0", "gzip", false), ("gzip;q=0.5", "gzip", true),
        ("x-gzip", "gzip", true),
        ("gzip", "x-gzip", true), ("gzip", "gzip, br", false), ("GZIP", "gzip", true), ("gzip", "identity", true),
    ])
    func weightsDecide(accept: String, coding: String, isAccepted: Bool) {
        #expect(AcceptedCodings(HeaderFields(["Accept-Encoding: \(accept)"]))?.accepts(coding) == isAccepted)
    }

    @Test func requestThatDoesNotSayAcceptsAll() {
        #expect(AcceptedCodings(HeaderFields(["Accept: a"])) == nil)
    }
}
