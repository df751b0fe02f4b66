@testable import CassetteModel
import TapeTestSupport
import Testing

struct MultipartParserTests {
    @Test func aFormIsSplit() throws {
        #expect(
            try MultipartFixture.transcript(MultipartFixture.form) == [
                #"delimiter "--X\r\n""#, #"headers "Content-Disposition: form-data; name=\"food\"\r\n\r\n""#, #"data "음식""#,
                #"delimiter "\r\n--X\r\n""#,
                #"headers "Content-Disposition: form-data; name=\"pet\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n""#,
                #"data "\u{01}\r\n\u{02}""#, #"closing "\r\n--X--\r\n""#,
            ])
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var events: [String]

        init(_ name: String, _ text: String, _ events: [String]) {
            self.testDescription = name
            self.text = text
            self.events = events
        }
    }

    private static let cases = [
        Case(
            "no last line end", "--X\r\n\r\na\r\n--X--",
            [#"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"closing "\r\n--X--""#]),
        Case(
            "line feeds", "--X\nA: b\n\na\n--X--\n", [#"delimiter "--X\n""#, #"headers "A: b\n\n""#, #"data "a""#, #"closing "\n--X--\n""#]),
        Case(
            "a preamble and an epilogue", "p\r\n--X\r\n\r\na\r\n--X--\r\ne\r\n--X",
            [
                #"preamble "p""#, #"delimiter "\r\n--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"closing "\r\n--X--\r\n""#,
                #"epilogue "e\r\n--X""#,
            ]),
        Case(
            "padding", "--X \t\r\n\r\na\r\n--X-- \r\n",
            [#"delimiter "--X \t\r\n""#, #"headers "\r\n""#, #"data "a""#, #"closing "\r\n--X-- \r\n""#]),
        Case(
            "another boundary that begins alike", "--X\r\n\r\na\r\n--Xy\r\nb\r\n--X--",
            [
                #"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a\r\n""#, #"resembling "--X""#, #"data "y\r\nb""#,
                #"closing "\r\n--X--""#,
            ]),
        Case(
            "a value and the closing delimiter on one line", "--X\r\n\r\na--X--\r\n",
            [
                #"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"closing "--X--\r\n""#,
            ]),
        Case(
            "a closing delimiter in the middle of data", "--X\r\n\r\na--X--\r\nb\r\n--X--",
            [
                #"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"resembling "--X""#, #"data "--\r\nb""#,
                #"closing "\r\n--X--""#,
            ]),
        Case(
            "data and the next delimiter on one line", "--X\r\n\r\na--X\r\nContent-Type: b\r\n\r\nc",
            [
                #"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"delimiter "--X\r\n""#, #"headers "Content-Type: b\r\n\r\n""#,
                #"data "c""#,
            ]),
        Case(
            "a delimiter and a field on one line", "--Xcontent-type: b\r\n\r\nc",
            [
                #"delimiter "--X""#, #"headers "content-type: b\r\n\r\n""#, #"data "c""#,
            ]),
        Case("no empty line and no data", "--X\r\nA: b\r\n--X--", [#"delimiter "--X\r\n""#, #"headers "A: b\r\n""#, #"closing "--X--""#]),
        Case(
            "no empty line in front of data", "--X\r\nA: b\r\n\u{1}c\r\n--X--",
            [
                #"delimiter "--X\r\n""#, #"headers "A: b\r\n""#, #"data "\u{01}c""#, #"closing "\r\n--X--""#,
            ]),
        Case(
            "one line end for an empty part", "--X\r\nA: b\r\n\r\n--X--",
            [
                #"delimiter "--X\r\n""#, #"headers "A: b\r\n\r\n""#, #"closing "--X--""#,
            ]),
        Case("cut within a header section", "--X\r\nA: b\r\nC:", [#"delimiter "--X\r\n""#, #"headers "A: b\r\nC:""#]),
        Case("cut within a delimiter", "--X\r\n\r\na\r\n--", [#"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a\r\n--""#]),
        Case(
            "a stream that ends after a part", "--X\r\n\r\na\r\n--X\r\n\r\nb\r\n",
            [
                #"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a""#, #"delimiter "\r\n--X\r\n""#, #"headers "\r\n""#, #"data "b""#,
                #"epilogue "\r\n""#,
            ]),
        Case(
            "a stream that ends after a part with an empty line", "--X\r\n\r\na\r\n\r\n",
            [#"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a\r\n""#, #"epilogue "\r\n""#]),
        Case(
            "a stream that ends after an empty part", "--X\r\n\r\n\r\n",
            [#"delimiter "--X\r\n""#, #"headers "\r\n""#, #"epilogue "\r\n""#]),
        Case(
            "a stream with line feeds that ends after a part", "--X\n\na\n",
            [#"delimiter "--X\n""#, #"headers "\n""#, #"data "a""#, #"epilogue "\n""#]),
        Case(
            "a line feed alone where lines end in CRLF", "--X\r\n\r\na\n",
            [#"delimiter "--X\r\n""#, #"headers "\r\n""#, #"data "a\n""#]),
        Case("a line end after a preamble alone", "a\r\n", [#"preamble "a\r\n""#]),
        Case("empty", "", []),
        Case("no delimiter", "a=b&--X", [#"preamble "a=b&--X""#]),
    ]

    @Test(arguments: cases) func lenientForms(_ form: Case) throws {
        #expect(try MultipartFixture.transcript(form.text) == form.events)
    }

    @Test(arguments: MultipartFixture.texts) func anySplitGivesTheSameEvents(_ text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try MultipartFixture.parse([bytes[...]])
        #expect(whole.flatMap(\.bytes) == bytes)
        for split in 0...bytes.count {
            #expect(try MultipartFixture.parse([bytes[..<split], bytes[split...]]) == whole, "at \(split)")
        }
        #expect(try MultipartFixture.parse(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test func eventsCoverAllBytesOfAnyInput() throws {
        var generator = SeededGenerator(seed: 4)
        var limits = MultipartLimits()
        limits.parts = 3
        limits.headerLines = 2
        limits.headerSection = 60
        for round in 0..<rounds(3000) {
            let bytes = MultipartFixture.mutated(
                Array(MultipartFixture.texts[round % MultipartFixture.texts.count].utf8), using: &generator)
            let limits = round % 2 == 0 ? limits : MultipartLimits()
            let whole = try MultipartFixture.parse([bytes[...]], limits: limits)
            #expect(whole.flatMap(\.bytes) == bytes)
            var offset = 0
            for stretch in whole {
                #expect(stretch.offset == offset)
                offset += stretch.bytes.count
            }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            let pieces = [bytes[..<cut], bytes[cut...]]
            #expect(
                try MultipartFixture.parse(pieces, limits: limits) == whole,
                "\(String(decoding: bytes, as: UTF8.self).debugDescription) at \(cut)")
            #expect(try MultipartFixture.parse(bytes.indices.map { bytes[$0...$0] }, limits: limits) == whole)
        }
    }

    @Test func longHeaderSectionsAreTheSameHoweverTheyAreCut() throws {
        var limits = MultipartLimits()
        limits.headerSection = 100
        for length in [90, 99, 100, 101, 600, 700] {
            for tail in ["\r\n\r\na\r\n--X--", "\r\n--X--\r\n", "\r\n--X\r\n\r\n", ""] {
                let bytes = Array(("--X\r\nA: " + String(repeating: "b", count: length) + tail).utf8)
                let whole = try MultipartFixture.parse([bytes[...]], limits: limits)
                #expect(try MultipartFixture.parse(bytes.indices.map { bytes[$0...$0] }, limits: limits) == whole)
            }
        }
    }

    @Test func tooManyPartsAreOpaque() throws {
        var limits = MultipartLimits()
        limits.parts = 1
        let events = try MultipartFixture.transcript("--X\r\n\r\na\r\n--X\r\n\r\nb\r\n--X--", limits: limits)
        #expect(events.last == #"opaque parts "\r\n--X\r\n\r\nb\r\n--X--""#)
        #expect(try MultipartFixture.transcript("--X\r\n\r\na\r\n--X--", limits: limits).last == #"closing "\r\n--X--""#)
    }

    @Test func headerSectionsOfTooManyLinesOrBytesAreOpaque() throws {
        var limits = MultipartLimits()
        limits.headerLines = 1
        #expect(
            try MultipartFixture.transcript("--X\r\nA: b\r\nC: d\r\n\r\n", limits: limits).last
                == #"opaque headerLines "A: b\r\nC: d\r\n\r\n""#)
        limits = MultipartLimits()
        let endless = Array("--X\r\nA: ".utf8) + [UInt8](repeating: 97, count: 1 << 20)
        let events = try MultipartFixture.parse([endless[...]], limits: limits)
        #expect(events.last?.kind == .opaque(.headerSection))
        #expect(events.count == 2)
    }

    @Test func errorsOfTheReceiverAreThrownOn() throws {
        struct Stop: Error {}
        var parser = MultipartParser(boundary: try #require(MultipartBoundary("X")))
        #expect(throws: Stop.self) {
            try Array("--X\r\n".utf8).withUnsafeBytes { try parser.push($0) { _ in throw Stop() } }
        }
    }
}

struct PartHeaderScannerTests {
    enum Outcome: Equatable { case needsMore, data(Int), delimiter(Int, Int), bodyEnd, tooMuch(MultipartLimit) }

    private func outcome(_ result: PartHeaderScanner.Result) -> Outcome {
        switch result {
        case .needsMore: .needsMore
        case .data(let start): .data(start)
        case .delimiter(_, let start, let end): .delimiter(start, end)
        case .bodyEnd: .bodyEnd
        case .tooMuch(let limit): .tooMuch(limit)
        }
    }

    private func scan(_ text: String, isFinal: Bool = false, limits: MultipartLimits = MultipartLimits()) throws -> Outcome {
        var scanner = PartHeaderScanner()
        let boundary = try #require(MultipartBoundary("X"))
        return Array(text.utf8).withUnsafeBytes {
            self.outcome(scanner.scan($0, from: 0, isFinal: isFinal, boundary: boundary, limits: limits))
        }
    }

    @Test func findsTheEnd() throws {
        #expect(try self.scan("A: b\r\n\r\nc") == .data(8))
        #expect(try self.scan("\nc") == .data(1))
        #expect(try self.scan("A: b\r\n--X\r\nc") == .delimiter(6, 11))
        #expect(try self.scan("A: b\r\n--Xy: c\r\n\r\n") == .data(17))
        #expect(try self.scan("A: b\r\n\u{89}PNG\r\n") == .data(6))
        #expect(try self.scan("A: b\r\n폼: c\r\n") == .data(6))
        #expect(try self.scan("A: 폼\r\n") == .needsMore)
        #expect(try self.scan("A: b\r\n", isFinal: true) == .bodyEnd)
        #expect(try self.scan("A: b", isFinal: true) == .bodyEnd)
    }

    @Test func goesOnWhereItWas() throws {
        let bytes = Array("A: b\r\nC: d\r\n\r\n".utf8)
        var scanner = PartHeaderScanner()
        let boundary = try #require(MultipartBoundary("X"))
        for count in 1...bytes.count {
            let result = bytes[..<count].withUnsafeBytes {
                scanner.scan($0, from: 0, isFinal: false, boundary: boundary, limits: MultipartLimits())
            }
            #expect(self.outcome(result) == (count < bytes.count ? .needsMore : .data(14)))
        }
    }

    @Test func limitsAreKept() throws {
        var limits = MultipartLimits()
        limits.headerLines = 1
        #expect(try self.scan("A: b\r\n\r\n", limits: limits) == .data(8))
        #expect(try self.scan("A: b\r\nB: c\r\n", limits: limits) == .tooMuch(.headerLines))
        limits = MultipartLimits()
        limits.headerSection = 10
        #expect(try self.scan("A: b\r\n\r\n", limits: limits) == .data(8))
        #expect(try self.scan("A: bcdef\r\nC: d\r\n", limits: limits) == .needsMore)
        #expect(try self.scan("A: bcdefg\r\nC: d\r\n", limits: limits) == .tooMuch(.headerSection))
        #expect(try self.scan("A: bcdefghijk\r\nC: d\r\n", limits: limits) == .tooMuch(.headerSection))
        #expect(try self.scan("A: " + String(repeating: "b", count: 600), limits: limits) == .tooMuch(.headerSection))
    }
}
