extension URLCorpus {
    static let accepted = entries(
        #"""
        // Scheme
        http://example.com/ -> http example.com 80 /
        https://example.com/ -> https example.com 443 /
        HTTP://example.com/ -> http example.com 80 /
        HttpS://example.com/ -> https example.com 443 /
        hTTp://EXAMPLE.COM/ -> http example.com 80 /
        // Empty path, query, fragment
        http://example.com -> http example.com 80 /
        http://example.com? -> http example.com 80 /?
        http://example.com?x=1 -> http example.com 80 /?x=1
        http://example.com# -> http example.com 80 /
        http://example.com#frag -> http example.com 80 /
        http://example.com/#frag -> http example.com 80 /
        http://example.com/a#b#c -> http example.com 80 /a
        http://example.com/a?b#c?d -> http example.com 80 /a?b
        http://example.com?a?b -> http example.com 80 /?a?b
        http://example.com#@evil.test/ -> http example.com 80 /
        http://example.com?@evil.test/ -> http example.com 80 /?@evil.test/
        http://example.com/@evil.test/ -> http example.com 80 /@evil.test/
        http://example.com/:80 -> http example.com 80 /:80
        http://example.com?:80 -> http example.com 80 /?:80
        http://example.com//evil.test/ -> http example.com 80 //evil.test/
        http://example.com///x -> http example.com 80 ///x
        // Dot segments stay
        http://example.com/.. -> http example.com 80 /..
        http://example.com/a/../b -> http example.com 80 /a/../b
        http://example.com/./a -> http example.com 80 /./a
        http://example.com/%2e%2e/a -> http example.com 80 /%2e%2e/a
        http://example.com/... -> http example.com 80 /...
        // Path and query bytes
        http://example.com/a%20b -> http example.com 80 /a%20b
        http://example.com/a b -> http example.com 80 /a%20b
        http://example.com/?a b -> http example.com 80 /?a%20b
        http://example.com/%zz -> http example.com 80 /%25zz
        http://example.com/% -> http example.com 80 /%25
        http://example.com/%4 -> http example.com 80 /%254
        http://example.com/%41 -> http example.com 80 /%41
        http://example.com/%00 -> http example.com 80 /%00
        http://example.com/%0d%0a -> http example.com 80 /%0d%0a
        http://example.com/%25zz -> http example.com 80 /%25zz
        http://example.com/%%41 -> http example.com 80 /%25%41
        http://example.com/%%% -> http example.com 80 /%25%25%25
        http://example.com/%C3%BC -> http example.com 80 /%C3%BC
        http://example.com/ü -> http example.com 80 /%C3%BC
        http://example.com/?ü=ü -> http example.com 80 /?%C3%BC=%C3%BC
        http://example.com/€ -> http example.com 80 /%E2%82%AC
        http://example.com/🦆 -> http example.com 80 /%F0%9F%A6%86
        http://example.com/a[b] -> http example.com 80 /a%5Bb%5D
        http://example.com/?x[]=1 -> http example.com 80 /?x%5B%5D=1
        http://example.com/a|b -> http example.com 80 /a%7Cb
        http://example.com/{a} -> http example.com 80 /%7Ba%7D
        http://example.com/<a> -> http example.com 80 /%3Ca%3E
        http://example.com/"a" -> http example.com 80 /%22a%22
        http://example.com/^` -> http example.com 80 /%5E%60
        http://example.com/a;b=c,d -> http example.com 80 /a;b=c,d
        http://example.com/!$&'()*+,;= -> http example.com 80 /!$&'()*+,;=
        http://example.com/-._~ -> http example.com 80 /-._~
        http://example.com/?/ -> http example.com 80 /?/
        http://example.com/?a=b&c=d+e -> http example.com 80 /?a=b&c=d+e
        http://example.com/?http://other.test/ -> http example.com 80 /?http://other.test/
        http://example.com/http://other.test/ -> http example.com 80 /http://other.test/
        http://example.com/%2F%2Fevil.test -> http example.com 80 /%2F%2Fevil.test
        http://example.com/%5C -> http example.com 80 /%5C
        http://example.com/a%2fb -> http example.com 80 /a%2fb
        http://example.com/?q=%26%3D -> http example.com 80 /?q=%26%3D
        http://example.com/🏳️‍🌈 -> http example.com 80 /%F0%9F%8F%B3%EF%B8%8F%E2%80%8D%F0%9F%8C%88
        http://example.com/é -> http example.com 80 /%C3%A9
        // Port
        http://example.com:80/ -> http example.com 80 /
        http://example.com:443/ -> http example.com 443 /
        https://example.com:443/ -> https example.com 443 /
        https://example.com:80/ -> https example.com 80 /
        http://example.com:8080/ -> http example.com 8080 /
        http://example.com:1/ -> http example.com 1 /
        http://example.com:65535/ -> http example.com 65535 /
        http://example.com:/ -> http example.com 80 /
        https://example.com:/ -> https example.com 443 /
        http://example.com: -> http example.com 80 /
        http://example.com:?x -> http example.com 80 /?x
        http://example.com:8080 -> http example.com 8080 /
        http://example.com:8080?x -> http example.com 8080 /?x
        http://example.com:8080#x -> http example.com 8080 /
        // Names
        http://a/ -> http a 80 /
        http://localhost/ -> http localhost 80 /
        http://LOCALHOST:3000/ -> http localhost 3000 /
        http://a.b.c.d.e.f/ -> http a.b.c.d.e.f 80 /
        http://example.com./ -> http example.com. 80 /
        http://EXAMPLE.COM.:8080/ -> http example.com. 8080 /
        http://localhost./ -> http localhost. 80 /
        http://my_host/ -> http my_host 80 /
        http://_dmarc.example.com/ -> http _dmarc.example.com 80 /
        http://-a-/ -> http -a- 80 /
        http://a-b.example/ -> http a-b.example 80 /
        http://a--b.example/ -> http a--b.example 80 /
        http://xn--bcher-kva.de/ -> http xn--bcher-kva.de 80 /
        http://XN--BCHER-KVA.de/ -> http xn--bcher-kva.de 80 /
        http://1a/ -> http 1a 80 /
        http://1.example/ -> http 1.example 80 /
        http://1.2.3.example/ -> http 1.2.3.example 80 /
        http://1.2.3.4.example/ -> http 1.2.3.4.example 80 /
        http://127.0.0.1.example./ -> http 127.0.0.1.example. 80 /
        http://0x7f.example/ -> http 0x7f.example 80 /
        http://0xg/ -> http 0xg 80 /
        http://x0/ -> http x0 80 /
        http://a1/ -> http a1 80 /
        http://1-2/ -> http 1-2 80 /
        http://1_2/ -> http 1_2 80 /
        http://example.c0m/ -> http example.c0m 80 /
        http://example.1com/ -> http example.1com 80 /
        http://deadbeef/ -> http deadbeef 80 /
        http://a.deadbeef/ -> http a.deadbeef 80 /
        http://test.83/ -> http test.83 80 /
        http://example.com.1/ -> http example.com.1 80 /
        http://example.0X1F/ -> http example.0x1f 80 /
        http://a.b.c.256/ -> http a.b.c.256 80 /
        http://1.2.3.a.4/ -> http 1.2.3.a.4 80 /
        http://0xg.1/ -> http 0xg.1 80 /
        // IPv4
        http://127.0.0.1/ -> http 127.0.0.1 80 /
        http://0.0.0.0/ -> http 0.0.0.0 80 /
        http://255.255.255.255/ -> http 255.255.255.255 80 /
        http://10.0.0.1:8080/x -> http 10.0.0.1 8080 /x
        http://1.2.3.4?x -> http 1.2.3.4 80 /?x
        http://192.0.2.10 -> http 192.0.2.10 80 /
        // IPv6
        http://[::1]/ -> http ::1 80 /
        http://[::]/ -> http :: 80 /
        http://[::1]:8080/ -> http ::1 8080 /
        http://[::1]:/ -> http ::1 80 /
        http://[::1] -> http ::1 80 /
        http://[::1]?x -> http ::1 80 /?x
        http://[2001:db8::1]/ -> http 2001:db8::1 80 /
        http://[2001:DB8::1]/ -> http 2001:db8::1 80 /
        http://[2001:0db8:0000:0000:0000:0000:0000:0001]/ -> http 2001:db8::1 80 /
        http://[1:2:3:4:5:6:7:8]/ -> http 1:2:3:4:5:6:7:8 80 /
        http://[1::8]/ -> http 1::8 80 /
        http://[1:2:3:4:5:6:7::]/ -> http 1:2:3:4:5:6:7:0 80 /
        http://[::2:3:4:5:6:7:8]/ -> http 0:2:3:4:5:6:7:8 80 /
        http://[1:0:0:4:0:0:0:8]/ -> http 1:0:0:4::8 80 /
        http://[1:0:0:4:5:0:0:8]/ -> http 1::4:5:0:0:8 80 /
        http://[fe80::1]/ -> http fe80::1 80 /
        http://[ff02::fb]/ -> http ff02::fb 80 /
        http://[::ffff:192.0.2.1]/ -> http ::ffff:192.0.2.1 80 /
        http://[::ffff:c000:201]/ -> http ::ffff:192.0.2.1 80 /
        http://[64:ff9b::192.0.2.1]/ -> http 64:ff9b::c000:201 80 /
        http://[1:2:3:4:5:6:1.2.3.4]/ -> http 1:2:3:4:5:6:102:304 80 /
        http://[::1.2.3.4]/ -> http ::102:304 80 /
        http://[fe80::1%25eth0]/ -> http fe80::1%eth0 80 /
        http://[fe80::1%25eth0]:8080/ -> http fe80::1%eth0 8080 /
        http://[FE80::1%252]/ -> http fe80::1%2 80 /
        http://[febf::1%25wlan-0.1]/ -> http febf::1%wlan-0.1 80 /
        // User information goes nowhere
        http://user@example.com/ -> http example.com 80 /
        http://user:pass@example.com/ -> http example.com 80 /
        http://user:@example.com/ -> http example.com 80 /
        http://:pass@example.com/ -> http example.com 80 /
        http://@example.com/ -> http example.com 80 /
        http://:@example.com/ -> http example.com 80 /
        http://user:pa:ss@example.com/ -> http example.com 80 /
        http://us%20er:pass@example.com/ -> http example.com 80 /
        http://user:p%3Ass@example.com/ -> http example.com 80 /
        http://user:pass@example.com:8080/x?y#z -> http example.com 8080 /x?y
        http://user:pass@[::1]:8080/ -> http ::1 8080 /
        http://user:80@example.com/ -> http example.com 80 /
        http://example.com:80@other.test/ -> http other.test 80 /
        http://good.test@evil.test/ -> http evil.test 80 /
        http://u!$&'()*+,;=-._~@example.com/ -> http example.com 80 /
        http://user@example.com?a@b -> http example.com 80 /?a@b
        http://user:@example.com:/ -> http example.com 80 /
        """#
    )
}
