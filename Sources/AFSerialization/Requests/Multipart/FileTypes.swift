import AFBase
import Foundation

/// Media types by the extensions of file names.
///
/// A list of our own: that of the system differs from machine to machine and may be missing.
package enum FileTypes {
    static let unknown = "application/octet-stream"

    /// - Parameter ending: Without its dot, in any case.
    package static func mimeType(ofExtension ending: String) -> String {
        types[ASCII.lowered(ending)] ?? unknown
    }

    private static let types: [String: String] = {
        var types: [String: String] = [:]
        for words in entries {
            for ending in words.dropFirst() { types[ending] = words[0] }
        }
        return types
    }()

    /// Each type with its extensions.
    static var entries: [[String]] {
        list.split { ",\n".contains($0) }.map { entry in entry.split(separator: " ").map(String.init) }
    }

    private static let list = """
        application/acrobat-forms fdf, application/andrew-inset ez, application/atom+xml atom
        application/atomcat+xml atomcat, application/atomsvc+xml atomsvc, application/calendar+xml xcs
        application/dash+xml mpd, application/dicom dcm, application/ecmascript ecma, application/epub+zip epub
        application/fits fit fits fts, application/geo+json geojson, application/gml+xml gml, application/gpx+xml gpx
        application/gzip gz, application/hjson hjson, application/inkml+xml ink inkml
        application/java-archive jar war ear, application/java-serialized-object ser, application/java-vm class
        application/json json map, application/json5 json5, application/jsonml+json jsonml, application/ld+json jsonld
        application/mac-binhex40 hqx, application/mac-compactpro cpt, application/manifest+json webmanifest
        application/marc mrc, application/mathematica ma mb nb, application/mathml+xml mathml, application/mbox mbox
        application/metalink4+xml meta4, application/mods+xml mods, application/mp21 m21 mp21
        application/mp4 mp4s m4p, application/msword doc dot, application/mxf mxf
        application/octet-stream bin bpk deploy dist distz dms dump elc exe iso img lha lrf lzh mar
        application/octet-stream msi msm msp o obj pkg so, application/oda oda, application/oebps-package+xml opf
        application/ogg ogx, application/onenote onetoc onetoc2 onetmp onepkg one, application/oxps oxps
        application/pdf pdf, application/pgp-encrypted pgp gpg, application/pgp-signature asc sig
        application/pics-rules prf, application/pkcs10 p10, application/pkcs7-mime p7m p7c
        application/pkcs7-signature p7s, application/pkcs8 p8, application/pkix-attr-cert ac, application/pkix-crl crl
        application/pkix-pkipath pkipath, application/pls+xml pls, application/postscript ai eps ps
        application/rdf+xml rdf owl, application/reginfo+xml rif, application/resource-lists+xml rl
        application/rss+xml rss, application/rtf rtf, application/sbml+xml sbml, application/sdp sdp
        application/smil+xml smi smil, application/sparql-query rq, application/sparql-results+xml srx
        application/sql sql, application/srgs gram, application/ssml+xml ssml, application/tei+xml tei teicorpus
        application/toml toml, application/ttml+xml ttml, application/ubjson ubj, application/vnd.amazon.ebook azw
        application/vnd.android.package-archive apk, application/vnd.apple.installer+xml mpkg
        application/vnd.apple.keynote key, application/vnd.apple.mpegurl m3u8, application/vnd.apple.numbers numbers
        application/vnd.apple.pages pages, application/vnd.apple.pkpass pkpass
        application/vnd.debian.binary-package deb udeb, application/vnd.google-earth.kml+xml kml
        application/vnd.google-earth.kmz kmz, application/vnd.iccprofile icc icm, application/vnd.mozilla.xul+xml xul
        application/vnd.ms-artgalry cil, application/vnd.ms-cab-compressed cab
        application/vnd.ms-excel xls xlm xla xlc xlt xlw, application/vnd.ms-excel.addin.macroenabled.12 xlam
        application/vnd.ms-excel.sheet.binary.macroenabled.12 xlsb
        application/vnd.ms-excel.sheet.macroenabled.12 xlsm, application/vnd.ms-excel.template.macroenabled.12 xltm
        application/vnd.ms-fontobject eot, application/vnd.ms-htmlhelp chm, application/vnd.ms-outlook msg
        application/vnd.ms-powerpoint ppt pps pot, application/vnd.ms-powerpoint.addin.macroenabled.12 ppam
        application/vnd.ms-powerpoint.presentation.macroenabled.12 pptm
        application/vnd.ms-powerpoint.slideshow.macroenabled.12 ppsm
        application/vnd.ms-powerpoint.template.macroenabled.12 potm, application/vnd.ms-project mpp mpt
        application/vnd.ms-word.document.macroenabled.12 docm, application/vnd.ms-word.template.macroenabled.12 dotm
        application/vnd.ms-works wps wks wcm wdb, application/vnd.ms-wpl wpl, application/vnd.ms-xpsdocument xps
        application/vnd.oasis.opendocument.chart odc, application/vnd.oasis.opendocument.database odb
        application/vnd.oasis.opendocument.formula odf, application/vnd.oasis.opendocument.graphics odg
        application/vnd.oasis.opendocument.graphics-template otg, application/vnd.oasis.opendocument.image odi
        application/vnd.oasis.opendocument.presentation odp
        application/vnd.oasis.opendocument.presentation-template otp
        application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.spreadsheet-template ots, application/vnd.oasis.opendocument.text odt
        application/vnd.oasis.opendocument.text-master odm, application/vnd.oasis.opendocument.text-template ott
        application/vnd.oasis.opendocument.text-web oth, application/vnd.openofficeorg.extension oxt
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.presentationml.slide sldx
        application/vnd.openxmlformats-officedocument.presentationml.slideshow ppsx
        application/vnd.openxmlformats-officedocument.presentationml.template potx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.spreadsheetml.template xltx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.openxmlformats-officedocument.wordprocessingml.template dotx
        application/vnd.palm pdb pqa oprc, application/vnd.rar rar, application/vnd.rn-realmedia rm
        application/vnd.rn-realmedia-vbr rmvb, application/vnd.sqlite3 sqlite sqlite3 db3
        application/vnd.stardivision.calc sdc, application/vnd.stardivision.draw sda
        application/vnd.stardivision.impress sdd, application/vnd.stardivision.writer sdw vor
        application/vnd.sun.xml.calc sxc, application/vnd.sun.xml.draw sxd, application/vnd.sun.xml.impress sxi
        application/vnd.sun.xml.writer sxw, application/vnd.symbian.install sis sisx
        application/vnd.tcpdump.pcap pcap cap dmp, application/vnd.visio vsd vst vss vsw vsdx
        application/vnd.wap.wbxml wbxml, application/vnd.wap.wmlc wmlc, application/vnd.wordperfect wpd
        application/voicexml+xml vxml, application/wasm wasm, application/widget wgt, application/winhlp hlp
        application/wsdl+xml wsdl, application/x-7z-compressed 7z, application/x-abiword abw
        application/x-ace-compressed ace, application/x-apple-diskimage dmg, application/x-bittorrent torrent
        application/x-blorb blb blorb, application/x-bzip bz, application/x-bzip2 bz2 boz
        application/x-cbr cbr cba cbt cbz cb7, application/x-chess-pgn pgn, application/x-chrome-extension crx
        application/x-compress z, application/x-cpio cpio, application/x-csh csh
        application/x-director dir dcr dxr cst cct cxt w3d fgd swa, application/x-dvi dvi, application/x-font-bdf bdf
        application/x-font-pcf pcf, application/x-font-type1 pfa pfb pfm afm, application/x-freearc arc
        application/x-gnumeric gnumeric, application/x-gtar gtar, application/x-hdf hdf, application/x-httpd-php php
        application/x-java-jnlp-file jnlp, application/x-latex latex, application/x-lzip lz, application/x-lzma lzma
        application/x-lzop lzo, application/x-mobipocket-ebook prc mobi, application/x-ms-shortcut lnk
        application/x-msaccess mdb, application/x-msmetafile wmf wmz emf emz, application/x-netcdf nc cdf
        application/x-ns-proxy-autoconfig pac, application/x-perl pl pm, application/x-pkcs12 p12 pfx
        application/x-pkcs7-certificates p7b spc, application/x-pkcs7-certreqresp p7r, application/x-plist plist
        application/x-research-info-systems ris, application/x-rpm rpm, application/x-ruby rb, application/x-sea sea
        application/x-sh sh bash, application/x-shar shar, application/x-shockwave-flash swf
        application/x-stuffit sit, application/x-stuffitx sitx, application/x-subrip srt
        application/x-sv4cpio sv4cpio, application/x-tar tar, application/x-tcl tcl tk, application/x-tex tex
        application/x-texinfo texinfo texi, application/x-ustar ustar, application/x-virtualbox-ova ova
        application/x-virtualbox-ovf ovf, application/x-virtualbox-vdi vdi, application/x-virtualbox-vmdk vmdk
        application/x-wais-source src, application/x-x509-ca-cert cer crt der pem, application/x-xfig fig
        application/x-xpinstall xpi, application/x-xz xz, application/xaml+xml xaml, application/xcap-diff+xml xdf
        application/xenc+xml xenc, application/xhtml+xml xhtml xht, application/xliff+xml xlf
        application/xml xml xsl xsd rng, application/xml-dtd dtd, application/xop+xml xop, application/xproc+xml xpl
        application/xslt+xml xslt, application/xspf+xml xspf, application/xv+xml mxml xhvml xvml xvm
        application/yaml yaml yml, application/yang yang, application/yin+xml yin, application/zip zip
        application/zstd zst
        audio/3gpp2 3ga, audio/aac aac adts, audio/ac3 ac3, audio/adpcm adp, audio/amr amr, audio/amr-wb awb
        audio/basic au snd, audio/flac flac, audio/midi mid midi kar rmi, audio/mp4 m4a mp4a m4b
        audio/mpeg mpga mp2 mp2a mp3 m2a m3a, audio/ogg oga ogg spx, audio/opus opus, audio/s3m s3m, audio/silk sil
        audio/vnd.dts dts, audio/vnd.dts.hd dtshd, audio/wav wav, audio/webm weba, audio/x-aiff aif aiff aifc
        audio/x-caf caf, audio/x-matroska mka, audio/x-mpegurl m3u, audio/x-ms-wax wax, audio/x-ms-wma wma
        audio/x-pn-realaudio ram ra, audio/xm xm
        chemical/x-cif cif, chemical/x-pdb ent, chemical/x-xyz xyz
        font/collection ttc, font/otf otf, font/ttf ttf, font/woff woff, font/woff2 woff2
        image/apng apng, image/avif avif, image/avif-sequence avifs, image/bmp bmp dib, image/cgm cgm, image/g3fax g3
        image/gif gif, image/heic heic, image/heic-sequence heics, image/heif heif, image/heif-sequence heifs
        image/ief ief, image/jp2 jp2 jpg2, image/jpeg jpeg jpg jpe jfif, image/jpm jpm, image/jpx jpx jpf
        image/jxl jxl, image/ktx ktx, image/ktx2 ktx2, image/png png, image/svg+xml svg svgz, image/tiff tif tiff
        image/vnd.adobe.photoshop psd, image/vnd.djvu djvu djv, image/vnd.dwg dwg, image/vnd.dxf dxf
        image/vnd.microsoft.icon ico, image/vnd.wap.wbmp wbmp, image/webp webp, image/x-3ds 3ds, image/x-adobe-dng dng
        image/x-canon-cr2 cr2, image/x-canon-cr3 cr3, image/x-cmu-raster ras, image/x-exr exr
        image/x-freehand fh fhc fh4 fh5 fh7, image/x-nikon-nef nef, image/x-olympus-orf orf, image/x-panasonic-rw2 rw2
        image/x-pcx pcx, image/x-pict pic pct, image/x-portable-anymap pnm, image/x-portable-bitmap pbm
        image/x-portable-graymap pgm, image/x-portable-pixmap ppm, image/x-rgb rgb, image/x-sony-arw arw
        image/x-tga tga, image/x-xbitmap xbm, image/x-xpixmap xpm, image/x-xwindowdump xwd
        message/rfc822 eml mime
        model/3mf 3mf, model/gltf+json gltf, model/gltf-binary glb, model/iges igs iges, model/mesh msh mesh silo
        model/mtl mtl, model/stl stl, model/vnd.collada+xml dae, model/vnd.usdz+zip usdz, model/vrml wrl vrml
        text/cache-manifest appcache manifest, text/calendar ics ifb, text/coffeescript coffee litcoffee, text/css css
        text/csv csv, text/html html htm shtml, text/jade jade, text/javascript js mjs cjs, text/jsx jsx
        text/less less, text/markdown md markdown, text/mdx mdx, text/n3 n3
        text/plain txt text conf def list log in ini cfg diff patch, text/richtext rtx, text/sgml sgml sgm
        text/stylus stylus styl, text/tab-separated-values tsv, text/troff t tr roff man me ms, text/turtle ttl
        text/uri-list uri uris urls, text/vcard vcard, text/vnd.curl curl, text/vnd.graphviz gv
        text/vnd.sun.j2me.app-descriptor jad, text/vnd.wap.wml wml, text/vnd.wap.wmlscript wmls, text/vtt vtt
        text/x-asm s asm, text/x-c c cc cxx cpp h hh hpp dic, text/x-component htc, text/x-fortran f for f77 f90
        text/x-go go, text/x-handlebars-template hbs, text/x-java-source java, text/x-kotlin kt kts, text/x-lua lua
        text/x-nfo nfo, text/x-opml opml, text/x-pascal p pas, text/x-python py, text/x-rust rs, text/x-sass sass
        text/x-scss scss, text/x-swift swift, text/x-setext etx, text/x-sfv sfv, text/x-uuencode uu
        text/x-vcalendar vcs, text/x-vcard vcf
        video/3gpp 3gp 3gpp, video/3gpp2 3g2, video/h261 h261, video/h263 h263, video/h264 h264, video/iso.segment m4s
        video/jpeg jpgv, video/mj2 mj2 mjp2, video/mp2t m2t m2ts mts, video/mp4 mp4 mp4v mpg4
        video/mpeg mpeg mpg mpe m1v m2v, video/ogg ogv, video/quicktime qt mov, video/vnd.mpegurl mxu m4u
        video/webm webm, video/x-f4v f4v, video/x-fli fli, video/x-flv flv, video/x-m4v m4v
        video/x-matroska mkv mk3d mks, video/x-mng mng, video/x-ms-asf asf asx, video/x-ms-vob vob, video/x-ms-wm wm
        video/x-ms-wmv wmv, video/x-ms-wmx wmx, video/x-ms-wvx wvx, video/x-msvideo avi, video/x-sgi-movie movie
        x-conference/x-cooltalk ice
        """
}
