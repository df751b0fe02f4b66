@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct QuantityTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (1250, "1.3 KB"), (999_949, "999.9 KB"), (999_950, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
        (.max, "9223372036.9 GB"),
    ])
    func bytes(count: Int, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test(
        arguments: [
            (0, "0.0 ms"), (1.25, "1.3 ms"), (48, "48 ms"), (9999, "9999 ms"), (12_340, "12.3 s"), (-1e300, "0.0 ms"),
            (1e300, "9007199254741.0 s"),
            (.infinity, "9007199254741.0 s"), (.nan, "0.0 s"),
        ] as [(Double, String)])
    func milliseconds(value: Double, text: String) {
        #expect(Quantity.milliseconds(value) == text)
    }

    @Test(
        arguments: [(0, "0.000 s"), (1.25, "1.250 s"), (99.999, "99.999 s"), (100, "0:01:40"), (3723, "1:02:03"), (-4, "0.000 s")]
            as [(Double, String)])
    func seconds(value: Double, text: String) {
        #expect(Quantity.seconds(value) == text)
    }

    @Test func counts() {
        #expect(Quantity.count(1, "exchange") == "1 exchange")
        #expect(Quantity.count(2, "miss", plural: "misses") == "2 misses")
    }
}
