import CassettePlayback
import Testing
@testable import TapeProxy

@Suite struct FailureRuleTests {
    @Test func namesAreFlaws() throws {
        #expect(try FailureRule(names: ["miss", "unused", "order"]).flaws == [.miss, .unused, .order])
        #expect(try FailureRule(names: ["none"]).flaws == [])
    }

    @Test(arguments: [["damage"], ["miss", "none"], ["miss", ""], ["Miss"]])
    func anythingElseIsTold(_ names: [String]) {
        #expect(throws: SettingError.self) { try FailureRule(names: names) }
    }

    @Test func strictOrderMakesARefusalForItsOrderAMiss() {
        #expect(FailureRule.standard.under(.strict).flaws == [.miss, .order])
        #expect(FailureRule.standard.under(.any).flaws == [.miss])
        #expect(FailureRule([]).under(.strict).flaws == [])
        #expect(FailureRule([.unused]).under(.strict).flaws == [.unused])
    }

    @Test func itIsShownAsItIsWritten() throws {
        for text in ["miss", "miss,unused,order", "none", "unused"] {
            #expect(try FailureRule(names: text.split(separator: ",").map(String.init)).description == text)
        }
    }
}
