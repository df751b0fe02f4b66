import Testing

@testable import CassetteModel

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
