import Testing
@testable import TapeProxy

@Suite struct TwoGenerationCacheTests {
    @Test func whatIsUsedStaysAndWhatIsNotGoes() {
        var cache = TwoGenerationCache<Int>(limit: 10)
        cache.insert(100, for: 1, weight: 2)
        for key in 2...40 {
            cache.insert(key, for: key, weight: 2)
            #expect(cache.value(1, weight: { _ in 2 }) == 100)
        }
        #expect(cache.value(2, weight: { _ in 2 }) == nil)
        #expect(cache.value(40, weight: { _ in 2 }) == 40)
    }

    @Test func itNeverHoldsMuchMoreThanItsLimit() {
        var cache = TwoGenerationCache<Int>(limit: 10)
        for key in 0..<100 { cache.insert(key, for: key, weight: 1) }
        #expect((0..<100).filter { cache.value($0, weight: { _ in 0 }) != nil }.count <= 10)
    }

    @Test func anEntryBeyondTheLimitIsHeldUntilTheNext() {
        var cache = TwoGenerationCache<Int>(limit: 10)
        cache.insert(1, for: 1, weight: 1000)
        #expect(cache.value(1, weight: { _ in 1000 }) == 1)
        cache.insert(2, for: 2, weight: 1)
        cache.insert(3, for: 3, weight: 5)
        #expect(cache.value(1, weight: { _ in 1000 }) == nil)
    }
}
