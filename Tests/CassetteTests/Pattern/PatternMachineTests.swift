import Foundation
import Testing

@testable import TapeBytes

@Suite struct PatternMachineTests {
    @Test func threadsMatchAtTheSameTime() throws {
        let machine = PatternMachine(PatternProgram(try PatternParser.parse("(a|b)*abb")))
        let wrong = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 64) { iteration in
            let input = Array((String(repeating: "ab", count: iteration) + (iteration % 2 == 0 ? "abb" : "aba")).utf8)
            let isWhole = input.withUnsafeBytes { machine.matches($0) }
            let range = input.withUnsafeBytes { machine.firstRange(in: $0, from: 0) }
            guard isWhole == (iteration % 2 == 0), range == (isWhole ? 0..<input.count : nil) else { return wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test func whatIsBeforeTheStartCounts() throws {
        let machine = PatternMachine(PatternProgram(try PatternParser.parse(#"\bb"#)))
        let input = Array("ab-b".utf8)
        #expect(input.withUnsafeBytes { machine.firstRange(in: $0, from: 1) } == 3..<4)
        #expect(input.withUnsafeBytes { machine.firstRange(in: $0, from: 4) } == nil)
    }
}
